import { Migrator, sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { alarmSince } from '../../src/store/ledger/alarms.js'
import { lockedAt } from '../../src/store/ledger/payers.js'
import { migrate, migrations } from '../../src/store/migrate.js'
import { findTokenOwner, revokeAuthToken } from '../../src/store/tenants/authTokens.js'
import { hashCredential } from '../../src/tenancy/credential.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { sumLocked } from '../support/database/ledger.js'
import { alice, bob, entryPoint, tank } from '../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

/** An empty database as the version before these migrations left it. */
beforeEach(async () => {
  await sql`drop schema public cascade`.execute(database())
  await sql`create schema public`.execute(database())
  const provider = { getMigrations: async () => migrations }
  const migrator = new Migrator({ db: database(), provider })
  const { error } = await migrator.migrateTo('0050-large-pools')
  expect(error).toBeUndefined()
})

test('what live reservations lock is known after the upgrade', async () => {
  const appId = await createApp(database())
  const rows = [
    ['open', tank, 100, 1_000, null],
    ['included', tank, 20, 1_000, 7],
    ['expired', tank, 3, 900, 8],
    ['settled', tank, 5_000, 1_000, 1],
    ['released', bob, 6_000, 1_000, 1],
  ] as const
  for (const [nonce, [state, paymaster, cost, until, block]] of rows.entries())
    await sql`insert into reservations (app_id, chain_id, entry_point, sender, nonce, paymaster,
        max_cost, valid_until, state, block_number)
      values (${appId}, 1, ${entryPoint}, ${alice}, ${nonce}, ${paymaster}, ${cost}, ${until},
        ${state}, ${block})`.execute(database())
  expect(await migrate(database())).toContain('0060-payers')
  for (const [paymaster, expected] of [
    [tank, [123n, 103n, 100n]],
    [bob, [0n, 0n, 0n]],
  ] as const) {
    const payer = { chainId: 1, entryPoint, paymaster }
    const moments = [
      { blockNumber: 6n, timestamp: 800 },
      { blockNumber: 7n, timestamp: 900 },
      { blockNumber: 8n, timestamp: 901 },
    ]
    expect(await lockedAt(database(), payer, moments)).toEqual(expected)
    for (const [place, moment] of moments.entries())
      expect(await sumLocked(database(), payer, moment)).toBe(expected[place])
  }
})

test('an app keeps the highest of the alarms of its tanks, and those that are on', async () => {
  const addTank = async (appId: string, version: string, threshold: number | null, low = false) => {
    const { rows } = await sql<{
      id: string
    }>`insert into tanks (app_id, chain_id, entry_point, kind,
        address, owner, signer, signer_key, low_threshold, low_since)
      values (${appId}, 1, ${version}, 'gas', ${version}, '0x', '0x', '', ${threshold}::numeric,
        ${low ? new Date(0) : null}::timestamptz) returning id`.execute(database())
    return rows[0]!.id
  }
  const addFund = (appId: string, mode: string, wei: number) =>
    sql`insert into funds (app_id, chain_id, mode, alarm_wei)
      values (${appId}, 1, ${mode}, ${wei})`.execute(database())
  const [unset, own, credited, silent] = [
    await createApp(database()),
    await createApp(database()),
    await createApp(database()),
    await createApp(database()),
  ]
  const low = await addTank(unset, '0x06', 5, true)
  await addTank(unset, '0x07', 7)
  await addFund(own, 'tank', 9)
  await addTank(own, '0x06', 4)
  const high = await addTank(own, '0x07', null)
  await addFund(credited, 'native', 2)
  await addTank(credited, '0x06', 8)
  await addTank(silent, '0x06', null)

  await migrate(database())
  const funds = await database().selectFrom('funds').select(['app_id', 'alarm_wei']).execute()
  expect(new Map(funds.map((fund) => [fund.app_id, fund.alarm_wei]))).toEqual(
    new Map([
      [unset, 7n],
      [own, 9n],
      [credited, 2n],
    ]),
  )
  expect(await alarmSince(database(), low)).toEqual(new Date(0))
  expect(await alarmSince(database(), high)).toBeUndefined()
})

test('the token of an account is its first one, also what an earlier version writes or asks meanwhile', async () => {
  const [kept, renewed] = [hashCredential('at.kept'), hashCredential('at.renewed')]
  const { rows } = await sql<{ id: string }>`
    insert into accounts (name, auth_token_hash) values ('a', ${kept}) returning id`.execute(
    database(),
  )
  const id = rows[0]?.id ?? ''
  await migrate(database())
  const first = { accountId: id, role: 'admin', isFirst: true }
  expect(await findTokenOwner(database(), kept)).toMatchObject(first)

  await sql`update accounts set auth_token_hash = ${renewed} where id = ${id}`.execute(database())
  expect(await findTokenOwner(database(), kept)).toBeUndefined()
  const owner = await findTokenOwner(database(), renewed)
  expect(owner).toMatchObject(first)
  await sql`insert into accounts (name, auth_token_hash)
    values ('b', ${hashCredential('at.b')})`.execute(database())
  expect(await findTokenOwner(database(), hashCredential('at.b'))).toMatchObject({ role: 'admin' })

  expect(await revokeAuthToken(database(), owner?.tokenId ?? '')).toBe(true)
  const account = await database()
    .selectFrom('accounts')
    .select('auth_token_hash')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect(account.auth_token_hash).toBeNull()
})

import { sql } from 'kysely'
import type { Hex } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { prune, tableSizes } from '../../src/records/startRetention.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { alice, entryPoint, tank } from '../support/operations/inclusionOf.js'
import { until } from '../support/until.js'

const connected = useDatabase()
const database = () => connected().database

const chainId = 4_100_000n
/** Blocks from here on may still be undone. */
const UNDECIDED = 1_000n
const days = 30
const daysAgo = (count: number) => new Date(Date.now() - count * 86_400_000)
const old = daysAgo(31)
const young = daysAgo(29)

let appId: string
let busyAppId: string
let counter = 0
function nextHash(): Hex {
  return `0x${(++counter).toString(16).padStart(64, '0')}`
}

type Made = { readonly hash: Hex; readonly nonce: bigint; readonly bundleId: bigint | null }

/** An operation with all that its way leaves behind; `state` is its last one. */
async function operation(
  state: 'included' | 'dropped' | 'replaced' | 'pooled' | 'bundled',
  at: Date,
  block = 5n,
  ofApp = appId,
): Promise<Made> {
  const hash = nextHash()
  const nonce = BigInt(counter)
  const hasBundle = state === 'included' || state === 'bundled'
  const transactionHash: Hex = `0x${'f'.repeat(40)}${hash.slice(42)}`
  const bundle = hasBundle
    ? await database()
        .insertInto('bundles')
        .values({
          chain_id: chainId,
          kind: 'operations',
          entry_point: entryPoint,
          executor: alice,
          nonce,
          operations: [hash],
          state: state === 'included' ? 'included' : 'signed',
          transaction_hash: state === 'included' ? transactionHash : null,
          created_at: at,
          updated_at: at,
        })
        .returning('id')
        .executeTakeFirstOrThrow()
    : undefined
  const bundleId = bundle?.id ?? null
  if (bundleId !== null)
    await database()
      .insertInto('bundle_transactions')
      .values({
        chain_id: chainId,
        hash: transactionHash,
        bundle_id: bundleId,
        raw: '0x',
        max_fee_per_gas: 1n,
        max_priority_fee_per_gas: 1n,
        max_cost: 1n,
        noop: false,
      })
      .execute()
  await database()
    .insertInto('operations')
    .values({
      chain_id: chainId,
      hash,
      entry_point: entryPoint,
      app_id: ofApp,
      sender: alice,
      nonce,
      paymaster: null,
      prefund: 5n,
      assured_price: 1n,
      valid_until: 0n,
      max_fee_per_gas: 1n,
      max_priority_fee_per_gas: 1n,
      operation: '{}',
      state,
      bundle_id: bundleId,
      received_at: at,
      updated_at: at,
    })
    .execute()
  await database()
    .insertInto('operation_history')
    .values({ chain_id: chainId, hash, at, kind: 'returned', bundle_id: bundleId })
    .execute()
  if (state === 'included') await includeIn(transactionHash, hash, nonce, block, at)
  return { hash, nonce, bundleId }
}

async function includeIn(
  transactionHash: Hex,
  hash: Hex,
  nonce: bigint,
  block: bigint,
  at: Date,
): Promise<void> {
  await sql`insert into inclusions (chain_id, user_op_hash, entry_point, sender, nonce, paymaster, success,
      actual_gas_cost, actual_gas_used, reason, transaction_hash, block_number, block_hash, first_log,
      log_index, block_time)
    values (${chainId}, ${hash}, ${entryPoint}, ${alice}, ${nonce}, ${tank}, true, 1, 1, '0x',
      ${transactionHash}, ${block}, '0x', 0, 0, ${at})`.execute(database())
  await sql`insert into transaction_receipts (chain_id, hash, block_number, block_hash, receipt)
    values (${chainId}, ${transactionHash}, ${block}, '0x', '{}')
    on conflict do nothing`.execute(database())
}

/** Money for the nonce of an operation. */
async function reservation(nonce: bigint, state: 'open' | 'included' | 'expired' | 'settled') {
  await sql`insert into reservations (app_id, chain_id, entry_point, sender, nonce, paymaster, max_cost,
      valid_until, state, block_number)
    values (${appId}, ${chainId}, ${entryPoint}, ${alice}, ${nonce}, ${tank}, 5, 1, ${state}, 5)`.execute(
    database(),
  )
}

function pruneNow() {
  return prune({ database: database(), logger: silent, days }, new Date())
}

async function hashesOf(table: 'operations' | 'inclusions' | 'transaction_receipts') {
  const column = sql.ref(table === 'inclusions' ? 'user_op_hash' : 'hash')
  const { rows } = await sql<{ hash: Hex }>`select ${column} as hash from ${sql.table(table)}
    where chain_id = ${chainId}`.execute(database())
  return new Set(rows.map(({ hash }) => hash))
}

beforeAll(async () => {
  appId = await createApp(database())
  busyAppId = await createApp(database())
  for (const number of [0n, UNDECIDED, UNDECIDED + 5n])
    await database()
      .insertInto('chain_blocks')
      .values({ chain_id: chainId, number, hash: '0x' })
      .execute()
})

test('old operations go with all that is kept of them, and nothing goes while money is open', async () => {
  const gone = [
    await operation('included', old),
    await operation('dropped', old),
    await operation('replaced', old),
  ]
  const settled = await operation('included', old)
  await reservation(settled.nonce, 'settled')
  const kept = {
    young: await operation('included', young),
    pooled: await operation('pooled', old),
    bundled: await operation('bundled', old),
    undecided: await operation('included', old, UNDECIDED),
    reserved: await operation('dropped', old),
    unsettled: await operation('included', old),
    undelivered: await operation('included', old, 5n, busyAppId),
  }
  await reservation(kept.reserved.nonce, 'open')
  await reservation(kept.unsettled.nonce, 'included')
  await sql`with s as (
      insert into event_subscriptions (app_id, url, event_types, secret)
      values (${busyAppId}, 'https://example.org', '{user_operation.included}', '') returning id
    ), e as (
      insert into events (app_id, type, data, occurred_at)
      values (${busyAppId}, 'user_operation.included', '{}', ${daysAgo(32)}) returning id
    )
    insert into event_deliveries (event_id, subscription_id) select e.id, s.id from e, s`.execute(
    database(),
  )

  expect(await pruneNow()).toMatchObject({ operations: 4, bundles: 2 })
  const left = Object.values(kept).map(({ hash }) => hash)
  expect(await hashesOf('operations')).toEqual(new Set(left))
  const included = [kept.young, kept.undecided, kept.unsettled, kept.undelivered]
  expect(await hashesOf('inclusions')).toEqual(new Set(included.map(({ hash }) => hash)))
  expect((await hashesOf('transaction_receipts')).size).toBe(included.length)
  const bundles = await sql<{
    id: bigint
  }>`select id from bundles where chain_id = ${chainId}`.execute(database())
  const { young: a, bundled, undecided, unsettled, undelivered } = kept
  expect(new Set(bundles.rows.map(({ id }) => id))).toEqual(
    new Set([a, bundled, undecided, unsettled, undelivered].map(({ bundleId }) => bundleId)),
  )
  const history = await sql<{ hash: Hex }>`select hash from operation_history
    where chain_id = ${chainId}`.execute(database())
  expect(new Set(history.rows.map(({ hash }) => hash))).toEqual(new Set(left))
  expect(gone.every(({ hash }) => !left.includes(hash))).toBe(true)

  // Once nothing is open any more, they go too.
  await sql`update reservations set state = 'settled' where chain_id = ${chainId}`.execute(
    database(),
  )
  await sql`update event_deliveries set state = 'delivered'`.execute(database())
  await sql`delete from chain_blocks where chain_id = ${chainId} and number = ${UNDECIDED}`.execute(
    database(),
  )
  await pruneNow()
  const rest = [kept.young, kept.pooled, kept.bundled].map(({ hash }) => hash)
  expect(await hashesOf('operations')).toEqual(new Set(rest))
  expect(await pruneNow()).toMatchObject({ operations: 0, bundles: 0, inclusions: 0, history: 0 })
})

test("a receipt of somebody else's bundle goes with the last of its operations", async () => {
  const transactionHash = nextHash()
  const [first, second] = [nextHash(), nextHash()]
  await includeIn(transactionHash, first, 90_001n, 6n, old)
  await includeIn(transactionHash, second, 90_002n, 6n, young)
  expect(await pruneNow()).toMatchObject({ inclusions: 1 })
  expect(await hashesOf('transaction_receipts')).toContain(transactionHash)
  await sql`update inclusions set block_time = ${old} where user_op_hash = ${second}`.execute(
    database(),
  )
  expect(await pruneNow()).toMatchObject({ inclusions: 1 })
  expect(await hashesOf('transaction_receipts')).not.toContain(transactionHash)
})

test('two processes that prune at once share the work', async () => {
  for (let index = 0; index < 40; index++) await operation('dropped', old)
  const [one, two] = await Promise.all([pruneNow(), pruneNow()])
  await pruneNow()
  expect(one.operations + two.operations).toBeLessThanOrEqual(40)
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from operations
    where chain_id = ${chainId} and state = 'dropped'`.execute(database())
  expect(rows[0]?.count).toBe(0n)
})

test('the size of every table is shown, the largest first', async () => {
  const sizes = await tableSizes(database())
  // Nothing analyzed them yet: rows are counted from the statistics of the server, which come a little later.
  const rowsOf = (found: typeof sizes, name: string) =>
    found.find((each) => each.name === name)?.rows
  await until(async () => rowsOf(await tableSizes(database()), 'apps'))
  expect(rowsOf(sizes, 'webhooks')).toBe(0n)
  expect(sizes.map(({ name }) => name)).toContain('operations')
  const totals = sizes.map(({ bytes, indexBytes }) => bytes + indexBytes)
  expect(totals).toEqual([...totals].sort((a, b) => (a < b ? 1 : a > b ? -1 : 0)))
  expect(totals[0]).toBeGreaterThan(0n)
})

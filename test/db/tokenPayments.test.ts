import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { rollBack } from '../../src/bundler/outbox/chainBlocks.js'
import { inTransaction } from '../../src/db/inTransaction.js'
import { settleLedger } from '../../src/paymaster/ledger/ledger.js'
import { insertTank } from '../../src/paymaster/ledger/tanks.js'
import {
  bookTokenPayments,
  collectingTanks,
  lastMissed,
  listCollected,
  listCollectedOfAccount,
  type PaidOperation,
} from '../../src/paymaster/ledger/tokenPayments.js'
import { insertTokenQuote, promisedTokens } from '../../src/paymaster/ledger/tokenQuotes.js'
import { countReads } from '../support/database/countReads.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { askLedger } from '../support/database/ledger.js'
import {
  alice,
  bob,
  entryPoint,
  tank as gasTank,
  inclusionOf,
} from '../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

const token: Address = `0x${'70'.repeat(20)}`
const tank: Address = `0x${'7b'.repeat(20)}`
const now = 1_000_000
let appId = ''
let chainId = 4_000_000

beforeEach(async () => {
  appId = await createApp(database())
  chainId++
  const keys = { owner: alice, signer: alice, signer_key: Buffer.from('sealed') }
  const place = { app_id: appId, chain_id: BigInt(chainId), entry_point: entryPoint }
  for (const [kind, address] of [
    ['token', tank],
    ['gas', gasTank],
  ] as const)
    await insertTank(database(), { ...place, ...keys, kind, address })
})

type Quoted = {
  readonly nonce?: bigint
  readonly sender?: Address
  readonly paymaster?: Address
  readonly mode?: 'prefund' | 'afterwards'
  readonly maxCharge?: bigint
}

function slot({ nonce = 0n, sender = alice, paymaster = tank }: Quoted) {
  return {
    chainId,
    entryPoint,
    paymaster,
    appId,
    sender,
    nonce,
  }
}

/** A signed quote of at most 100 units; its operation's hash. */
async function quote(given: Quoted = {}): Promise<Hex> {
  const { mode = 'afterwards', maxCharge = 100n } = given
  const { decisionId, hash } = await askLedger(database(), {
    slot: slot(given),
    maxCost: 10n,
    validUntil: BigInt(now + 300),
    head: { deposit: 10n ** 20n, blockNumber: 1n, timestamp: now },
  })
  const terms = { chainId, token, mode, rate: 3n, markup: 1_000_000, maxCharge }
  await inTransaction(database(), (trx) => insertTokenQuote(trx, { decisionId, ...terms }))
  return hash
}

type Taken = Omit<NonNullable<PaidOperation['taken']>, 'token'> | undefined

async function include(hash: Hex, taken: Taken, block = 5n, given: Quoted = {}): Promise<void> {
  const { sender, nonce, paymaster } = slot(given)
  const paid = { entryPoint, userOpHash: hash, paymaster, sender, nonce, blockNumber: block }
  const reported = taken && { ...taken, token }
  await database()
    .transaction()
    .execute(async (trx) => {
      const inclusion = inclusionOf({ slot: slot(given), hash, cost: 7n, block })
      await bookTokenPayments(trx, chainId, [{ ...paid, actualGasCost: 7n, taken: reported }])
      await settleLedger(trx, chainId, [inclusion], undefined)
    })
}

function books() {
  return listCollected(database(), { chainId, appId })
}
function promised(block = 5n) {
  return promisedTokens(database(), { chainId, token }, block)
}
function reorgTo(fork: bigint) {
  return database()
    .transaction()
    .execute((trx) => rollBack(trx, chainId, fork))
}

describe('the books of tokens', () => {
  test('a payment is booked once, however often it is read', async () => {
    const hash = await quote()
    const taken = { charged: 80n, cost: 9n }
    await include(hash, taken)
    await include(hash, taken)
    expect(await books()).toEqual([
      {
        chainId: BigInt(chainId),
        appId,
        tank,
        token,
        collected: 80n,
        payments: 1n,
        missed: 0n,
        lost: 0n,
      },
    ])
    expect(await collectingTanks(database(), chainId, token)).toEqual([tank])
  })

  test('a payment under another hash of the quoted operation is booked by its sender and nonce', async () => {
    await quote()
    await include(`0x${'98'.repeat(32)}`, { charged: 80n, cost: 9n })
    expect(await books()).toMatchObject([{ collected: 80n, payments: 1n }])
    await include(`0x${'97'.repeat(32)}`, { charged: 80n, cost: 9n }, 5n, { nonce: 7n })
    expect(await books()).toMatchObject([{ collected: 80n, payments: 1n }])
  })

  test('a reorg takes a payment back, and its promise counts again', async () => {
    const hash = await quote()
    await include(hash, { charged: 80n, cost: 9n })
    expect(await promised()).toBe(0n)
    await reorgTo(4n)
    expect(await books()).toEqual([])
    expect(await promised()).toBe(100n)
  })

  test('a reorg above a payment leaves it', async () => {
    await include(await quote(), { charged: 80n, cost: 9n })
    await reorgTo(5n)
    expect(await books()).toMatchObject([{ collected: 80n }])
  })

  test('operations of tanks that take no tokens are passed over', async () => {
    const given = { paymaster: gasTank }
    await include(await quote(given), { charged: 80n, cost: 9n }, 5n, given)
    expect(await books()).toEqual([])
  })

  test('an app sees its own payments only', async () => {
    await include(await quote(), { charged: 80n, cost: 9n })
    const other = await createApp(database())
    expect(await listCollected(database(), { appId: other })).toEqual([])
  })

  test('an account sees the sum of its apps, and no other account does', async () => {
    await include(await quote(), { charged: 80n, cost: 9n })
    await include(await quote({ nonce: 9n }), undefined, 5n, { nonce: 9n })
    const accountOf = async (id: string) => {
      const apps = database().selectFrom('apps').select('account_id').where('id', '=', id)
      return (await apps.executeTakeFirstOrThrow()).account_id
    }
    expect(await listCollectedOfAccount(database(), await accountOf(appId))).toEqual([
      { chainId: BigInt(chainId), token, collected: 80n, payments: 1n, missed: 1n, lost: 7n },
    ])
    const other = await accountOf(await createApp(database()))
    expect(await listCollectedOfAccount(database(), other)).toEqual([])
  })
})

describe('a tank that says nothing', () => {
  const ever = new Date(0)

  test('got nothing when it charges afterwards: the sender is remembered', async () => {
    await include(await quote(), undefined)
    expect(await books()).toMatchObject([{ collected: 0n, payments: 0n, missed: 1n, lost: 7n }])
    expect(await lastMissed(database(), chainId, alice, ever)).toBeInstanceOf(Date)
    expect(await lastMissed(database(), chainId, bob, ever)).toBeUndefined()
    expect(await lastMissed(database(), chainId + 1, alice, ever)).toBeUndefined()
  })

  test('a payment default ends with its time, and with the block that showed it', async () => {
    await include(await quote(), undefined)
    const later = new Date(Date.now() + 60_000)
    expect(await lastMissed(database(), chainId, alice, later)).toBeUndefined()
    await reorgTo(4n)
    expect(await lastMissed(database(), chainId, alice, ever)).toBeUndefined()
  })

  test('kept all that it had taken beforehand', async () => {
    const given = { mode: 'prefund' } as const
    await include(await quote(given), undefined, 5n, given)
    expect(await books()).toMatchObject([{ collected: 100n, missed: 0n }])
    expect(await lastMissed(database(), chainId, alice, ever)).toBeUndefined()
  })
})

describe('what is promised', () => {
  test('is the most expensive quote of each nonce', async () => {
    await quote({ maxCharge: 40n })
    await quote({ maxCharge: 100n })
    await quote({ maxCharge: 60n })
    await quote({ nonce: 1n, maxCharge: 7n })
    expect(await promised()).toBe(107n)
  })

  test('counts what was included after the block at which the tanks were looked at', async () => {
    await include(await quote(), { charged: 80n, cost: 9n }, 5n)
    expect(await promised(4n)).toBe(100n)
    expect(await promised(5n)).toBe(0n)
  })

  test('is of one token', async () => {
    await quote()
    const other = { chainId, token: bob }
    expect(await promisedTokens(database(), other, 5n)).toBe(0n)
  })

  test('reads no reservation of another chain', async () => {
    await quote()
    await sql`with made as (
        insert into reservations (app_id, chain_id, entry_point, sender, nonce, paymaster, max_cost,
          valid_until, state)
        select ${appId}, chain, ${entryPoint}, ${alice}, n, ${tank}, 5, 1, state
        from (values (1, 'open', 200), (${chainId}::bigint, 'settled', 4000)) as of (chain, state, count),
          generate_series(1, count) n
        returning *
      ), decided as (
        insert into decisions (id, app_id, chain_id, entry_point, sender, nonce, sponsored, code,
          message, max_cost, valid_after, valid_until, reservation_id)
        select gen_random_uuid(), app_id, chain_id, entry_point, sender, nonce, true, 'SPONSORED', '',
          5, 0, 1, id from made returning *
      )
      insert into token_quotes (decision_id, chain_id, token, mode, rate, markup, max_charge)
      select id, chain_id, ${token}, 'afterwards', 1, 1, 1 from decided`.execute(database())
    await sql`analyze reservations, decisions, token_quotes`.execute(database())
    const read = await countReads(testDatabase().connection, 'reservations', async (lone) =>
      expect(await promisedTokens(lone, { chainId, token }, 5n)).toBe(100n),
    )
    expect(read).toBeLessThan(100)
  })
})

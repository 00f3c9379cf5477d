import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openDatabase } from '../../src/db/database.js'
import { pruneWitnesses } from '../../src/mempool/witnesses.js'
import { pruneCounters, pruneOrphanedCounters } from '../../src/paymaster/ledger/budgetCounters.js'
import { pruneDecisions } from '../../src/paymaster/ledger/decisions.js'
import { pruneRefusals } from '../../src/records/refusals.js'
import { prune, startRetention, tableSizes } from '../../src/records/startRetention.js'
import { countReads } from '../support/database/countReads.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { policiesOn } from '../support/database/policiesOn.js'
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

/** `count` counters of a budget in as many buckets, the first of which begins at `at`. */
async function counters(policyId: string, at: number, count: number): Promise<void> {
  await sql`insert into budget_counters (policy_id, budget, subject, bucket, used, settled)
    select ${policyId}, 'sender wei hour', n::text, case when at > 0 then at + n else 0 end, 1, 1
    from generate_series(1, ${count}::int) n, (values (${at}::bigint)) as begin (at)`.execute(
    database(),
  )
}

async function countOf(table: 'budget_counters' | 'decisions'): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) from ${sql.table(table)}`.execute(
    database(),
  )
  return Number(rows[0]?.count)
}

describe('counters', () => {
  const seconds = (date: Date) => Math.floor(date.getTime() / 1_000)
  const past = seconds(daysAgo(63))
  const fund = () =>
    database()
      .insertInto('funds')
      .values({ app_id: appId, chain_id: ++fundChain, mode: 'native' })
      .returning('id')
      .executeTakeFirstOrThrow()
  let fundChain = chainId
  afterEach(async () => {
    await sql`truncate budget_counters`.execute(database())
  })

  test('of past buckets go in batches, those without end stay', async () => {
    const { id } = await fund()
    await counters(id, past, 25)
    await counters(id, seconds(daysAgo(61)), 3)
    await counters(id, 0, 4)
    const pruneSome = () => pruneCounters(database(), seconds(daysAgo(62)), 10)
    expect([await pruneSome(), await pruneSome(), await pruneSome()]).toEqual([10, 10, 5])
    await pruneNow()
    expect(await countOf('budget_counters')).toBe(7)
  })

  test('of policies that are gone go in batches', async () => {
    const { id } = await fund()
    await counters(id, 0, 4)
    for (const digit of ['0', '7', 'f'])
      await counters(`${digit.repeat(8)}-0000-4000-8000-000000000000`, 0, 5)
    const pruneSome = () => pruneOrphanedCounters(database(), 10)
    expect([await pruneSome(), await pruneSome(), await pruneSome()]).toEqual([10, 5, 0])
    expect(await countOf('budget_counters')).toBe(4)
  })

  test('of a policy that is deleted go in batches', async () => {
    const { account_id } = await database()
      .selectFrom('apps')
      .select('account_id')
      .where('id', '=', appId)
      .executeTakeFirstOrThrow()
    const policies = policiesOn(database())
    const { policyId } = await policies.create(account_id, { appId, name: 'ends', terms: {} })
    await counters(policyId, 0, 25)
    await policies.remove(account_id, policyId)
    const pruneSome = () => pruneOrphanedCounters(database(), 10)
    expect([await pruneSome(), await pruneSome(), await pruneSome()]).toEqual([10, 10, 5])
  })

  test('that cannot be deleted keep nothing else', async () => {
    const { id } = await fund()
    await counters(id, past, 5)
    const { hash } = await operation('dropped', old)
    // With one connection, so that its setting holds for all statements.
    const impatient = openDatabase(connected().connection, silent, { size: 1 })
    const warn = vi.spyOn(silent, 'warn')
    try {
      await sql`set lock_timeout = 200`.execute(impatient)
      await database()
        .transaction()
        .execute(async (trx) => {
          await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
          await sql`lock table budget_counters in access exclusive mode`.execute(trx)
          const deleted = await prune({ database: impatient, logger: silent, days }, new Date())
          expect(deleted).toMatchObject({ counters: 0, operations: 1 })
        })
      expect(await hashesOf('operations')).not.toContain(hash)
      expect(warn.mock.calls.map(([facts]) => facts)).toMatchObject([
        { step: 'counters' },
        { step: 'orphanedCounters' },
      ])
    } finally {
      warn.mockRestore()
      await impatient.destroy()
    }
    expect(await pruneNow()).toMatchObject({ counters: 5 })
  })
})

describe('beyond the share of an app', () => {
  type Prune = typeof pruneDecisions
  const kinds: [table: string, insert: () => Promise<unknown>, prune: Prune][] = [
    ['decisions', () => refused(young, 1_500), pruneDecisions],
    [
      'refusals',
      () =>
        sql`insert into refusals (at, account_id, app_id, key_id, chain_id, method, code, message, request_id, nonce)
        select ${young}::timestamptz + n * interval '1 second', account_id, id, id, ${chainId}, '', 0, '', '', n
        from apps, generate_series(1, 1500) n where id = ${appId}`.execute(database()),
      pruneRefusals,
    ],
    [
      'witnesses',
      () =>
        sql`insert into witnesses (chain_id, hash, app_id, digest, bytes, at)
        select ${chainId}, n, ${appId}, '', '', ${young}::timestamptz + n * interval '1 second'
        from generate_series(1, 1500) n`.execute(database()),
      pruneWitnesses,
    ],
  ]

  test.each(kinds)(
    'the oldest %s go, and few of the others are read',
    async (table, insert, prune) => {
      await insert()
      const read = await countReads(connected().connection, table, async (lone) => {
        const pruneSome = () => prune(lone, old, 1_400, 60)
        expect([await pruneSome(), await pruneSome(), await pruneSome()]).toEqual([60, 40, 0])
      })
      expect(read).toBeLessThan(10_000)
      const column = sql.ref(table === 'witnesses' ? 'hash' : 'nonce')
      const { rows } = await sql<{ oldest: bigint }>`
      select min(${column}::bigint) as oldest from ${sql.table(table)}`.execute(database())
      expect(rows[0]?.oldest).toBe(101n)
      await sql`truncate ${sql.table(table)} cascade`.execute(database())
    },
  )
})

/** Refused decisions, a second apart from `from` on. */
function refused(from: Date, count: number) {
  return sql`insert into decisions (id, app_id, chain_id, entry_point, sender, nonce, sponsored, code, message,
      max_cost, valid_after, valid_until, created_at)
    select gen_random_uuid(), ${appId}, ${chainId}, ${entryPoint}, ${alice}, n, false, 'X', '', 0, 0, 0,
      ${from}::timestamptz + n * interval '1 second'
    from generate_series(1, ${count}::integer) n`.execute(database())
}

describe('a run', () => {
  const context = () => ({ database: database(), logger: silent, days })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })

  test('ends with the batch that is under way when it is asked to', async () => {
    await refused(old, 1_500)
    await startRetention(context()).stop()
    expect(await countOf('decisions')).toBe(500)
  })

  test('begins when no other one is under way', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const begun = vi.spyOn(database(), 'transaction')
    const { stop } = startRetention(context())
    expect(begun).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(1_200_000)
    expect(begun).toHaveBeenCalledTimes(1)
    await stop()
  })
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

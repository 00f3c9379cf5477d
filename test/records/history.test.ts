import { type RawBuilder, sql } from 'kysely'
import type { Hex } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import { rollBack } from '../../src/bundler/outbox/chainBlocks.js'
import { putInclusions } from '../../src/bundler/outbox/inclusions.js'
import { abandonBundle, refuseBundle, storeBundle } from '../../src/bundler/outbox/outbox.js'
import { dropOperations } from '../../src/mempool/pool/operations.js'
import { listOperations } from '../../src/records/operations.js'
import { findOperationRecord } from '../../src/records/operationRecord.js'
import { timelineOf } from '../../src/records/timelineOf.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { alice, entryPoint, inclusionOf, tank } from '../support/operations/inclusionOf.js'

const connected = useDatabase()
const database = () => connected().database

let appId: string
let chainId = 4_000_000
beforeEach(async () => {
  chainId++
  appId = await createApp(database())
})

function hashOf(number: number): Hex {
  return `0x${number.toString(16).padStart(64, '0')}`
}

async function pool(number: number, receivedAt = new Date()): Promise<Hex> {
  const hash = hashOf(number)
  await database()
    .insertInto('operations')
    .values({
      chain_id: BigInt(chainId),
      hash,
      entry_point: entryPoint,
      app_id: appId,
      sender: alice,
      nonce: BigInt(number),
      paymaster: null,
      prefund: 5n,
      assured_price: 1n,
      valid_until: 0n,
      max_fee_per_gas: 1n,
      max_priority_fee_per_gas: 1n,
      operation: '{}',
      state: 'pooled',
      received_at: receivedAt,
    })
    .execute()
  return hash
}

let nonce = 0n
async function bundle(hash: Hex): Promise<bigint> {
  const attempt = {
    hash: hashOf(Number(++nonce) + 5_000_000),
    raw: '0x',
    maxFeePerGas: 1n,
  } as const
  const more = { maxPriorityFeePerGas: 1n, maxCost: 1n, noop: false } as const
  const of = { chainId, kind: 'operations', entryPoint, executor: alice, nonce } as const
  const id = await storeBundle(database(), of, { ...attempt, ...more }, [hash])
  if (id === undefined) throw new Error('the operation was not pooled')
  return id
}

function include(number: number, hash: Hex, bundleId: bigint | undefined) {
  const slot = { chainId, entryPoint, paymaster: tank, appId, sender: alice, nonce: BigInt(number) }
  const inclusion = inclusionOf({ slot, hash, cost: 7n, block: 9n })
  const placed = { ...inclusion, bundleId, time: 1_700_000_000 }
  return database()
    .transaction()
    .execute((trx) => putInclusions(trx, chainId, [placed]))
}

async function kindsOf(hash: Hex): Promise<string[]> {
  const record = await findOperationRecord(database(), chainId, hash)
  return record === undefined ? [] : timelineOf(record).map(({ kind }) => kind)
}

test('the usual way forgets nothing and writes no history', async () => {
  const hash = await pool(1)
  await include(1, hash, await bundle(hash))
  expect(await kindsOf(hash)).toEqual(['received', 'bundled', 'broadcast', 'included'])
  const record = await findOperationRecord(database(), chainId, hash)
  expect(record?.history).toEqual([])
})

test('an operation that returns to the pool keeps the bundles that it was in', async () => {
  const hash = await pool(2)
  await abandonBundle(database(), await bundle(hash))
  await refuseBundle(database(), await bundle(hash), 5)
  const kinds = [
    'received',
    'bundled',
    'broadcast',
    'returned',
    'bundled',
    'broadcast',
    'suspected',
  ]
  expect(await kindsOf(hash)).toEqual(kinds)
  await refuseBundle(database(), await bundle(hash), 2)
  const last = await findOperationRecord(database(), chainId, hash)
  expect(last?.operation).toMatchObject({ state: 'dropped', reason_code: 'BUNDLE_FAILED' })
  expect(await kindsOf(hash)).toEqual([...kinds, 'bundled', 'broadcast', 'suspected', 'dropped'])
})

test('a reason outlives the return of a dropped operation', async () => {
  const hash = await pool(3)
  await dropOperations(database(), chainId, [{ hash, code: 'EXPIRED', reason: 'too late' }])
  await database()
    .updateTable('operations')
    .set({ state: 'pooled', reason_code: null, reason: null })
    .where('hash', '=', hash)
    .where('chain_id', '=', BigInt(chainId))
    .execute()
  const record = await findOperationRecord(database(), chainId, hash)
  if (record === undefined) throw new Error('gone')
  expect(timelineOf(record)).toMatchObject([
    { kind: 'received' },
    { kind: 'dropped', code: 'EXPIRED', message: 'too late' },
    { kind: 'readmitted' },
  ])
})

test('our bundle is not forgotten when somebody else includes its operation', async () => {
  const hash = await pool(5)
  await bundle(hash)
  await include(5, hash, undefined)
  expect(await kindsOf(hash)).toEqual(['received', 'bundled', 'broadcast', 'returned', 'included'])
})

test('a reorganisation stays in the timeline', async () => {
  const hash = await pool(4)
  await include(4, hash, undefined)
  await database()
    .transaction()
    .execute((trx) => rollBack(trx, chainId, 8n))
  expect(await kindsOf(hash)).toEqual(['received', 'reorged'])
  await include(4, hash, undefined)
  expect(await kindsOf(hash)).toEqual(['received', 'reorged', 'included'])
})

test('pages of a list hold each operation of the account once, the newest first', async () => {
  const start = Date.now()
  for (let number = 10; number < 17; number++)
    await pool(number, new Date(start + Math.floor(number / 2)))
  const seen: Hex[] = []
  let before: string | undefined
  do {
    const page = await listOperations(database(), { appId }, { limit: 3, before })
    seen.push(...page.items.map(({ hash }) => hash))
    before = page.next
  } while (before !== undefined)
  expect(seen).toEqual([16, 15, 14, 13, 12, 11, 10].map(hashOf))
  const other = await createApp(database())
  const query = { limit: 3, before: undefined }
  expect((await listOperations(database(), { appId: other }, query)).items).toEqual([])
  expect((await listOperations(database(), { appId, state: 'dropped' }, query)).items).toEqual([])
  const none = { limit: 3, before: `1:0x${'0'.repeat(64)}` }
  expect((await listOperations(database(), { appId }, none)).items).toEqual([])
})

/** Stores copies of operation `o`, number `n` from 1 on, with other values of some columns: names and values in turn. */
async function multiply(hash: Hex, count: number, others: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`select column_name as name
    from information_schema.columns
    where table_name = 'operations' and is_generated = 'NEVER'`.execute(database())
  const columns = sql.join(rows.map(({ name }) => sql.ref(name)))
  await sql`insert into operations (${columns}) select ${columns} from (
      select (jsonb_populate_record(o, jsonb_build_object(${others}))).*
      from operations o, generate_series(1, ${count}::int) n where o.hash = ${hash}) copies`.execute(
    database(),
  )
}

test('a page that looks into another table for each operation looks at 500, and the next one goes on', async () => {
  const hash = await pool(20, new Date('2026-01-01'))
  await multiply(
    hash,
    600,
    sql`'hash', '0x' || lpad(to_hex(1000 + n), 64, '0'), 'nonce', 1000 + n,
      'received_at', o.received_at + n * interval '1 second'`,
  )
  await include(20, hash, undefined)
  const until = new Date('2026-01-02')
  const pageFrom = (before: string | undefined) =>
    listOperations(database(), { appId, outcome: 'included', until }, { limit: 3, before })
  const first = await pageFrom(undefined)
  expect(first).toEqual({ items: [], next: expect.any(String) })
  const second = await pageFrom(first.next)
  expect(second.items.map((item) => item.hash)).toEqual([hash])
  expect(second.next).toBeUndefined()
})

test("operations are found by the beginning of their hash, on whatever chain, and no stranger's", async () => {
  const seed = await pool(30, new Date('2026-02-01'))
  // As many of one beginning as are too many to name, and the same on another chain.
  await multiply(
    seed,
    2_100,
    sql`'hash', '0xbeef' || lpad(to_hex(n), 60, '0'), 'nonce', 10000 + n, 'chain_id', o.chain_id + n % 2,
      'received_at', o.received_at + n * interval '1 second'`,
  )
  const list = async (hash: string, of = appId) => {
    const filter = { appId: of, hash, sender: alice }
    const { items } = await listOperations(database(), filter, { limit: 10, before: undefined })
    return items.map((item) => `${item.chain_id - BigInt(chainId)} ${item.hash.slice(-4)}`)
  }
  const one = `0xbeef${'7ff'.padStart(60, '0')}`
  expect(await list(one)).toEqual(['1 07ff'])
  expect(await list('0xbeee')).toEqual([])
  expect(await list(`0xbeef${'0'.repeat(57)}80`)).toEqual(
    [...'fedcba9876'].map((digit, index) => `${(index + 1) % 2} 080${digit}`),
  )
  expect(await list('0xbeef')).toHaveLength(10)
  expect((await list('0xbeef'))[0]).toBe('0 0834')
  expect(await list(seed.slice(0, 6))).toContain('0 001e')
  expect(await list(one, await createApp(database()))).toEqual([])
})

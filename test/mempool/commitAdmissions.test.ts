import fc from 'fast-check'
import { sql } from 'kysely'
import { type Address, type Hex, numberToHex } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { UnavailableError } from '../../src/base/errors/requestErrors.js'
import { type Database, openDatabase } from '../../src/db/database.js'
import { commitAdmissions } from '../../src/mempool/commitAdmissions.js'
import type { AdmissionDecision } from '../../src/mempool/decideAdmission.js'
import { lockPool } from '../../src/mempool/pool/bounds.js'
import type { Admission } from '../../src/mempool/poolView.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { plainOperation } from '../support/operations/plainOperation.js'
import { until } from '../support/until.js'

const postgres = useDatabase()
const limits = { maxOperationsPerSender: 3, maxOperationsPerApp: 6, maxOperations: 8 }
const entryPoint: Address = `0x${'ee'.repeat(20)}`
function addressOf(number: number): Address {
  return numberToHex(number, { size: 20 })
}

let apps: readonly string[]
let chainId = 70_000
beforeAll(async () => {
  const { database } = postgres()
  apps = [await createApp(database), await createApp(database)]
})

/** Few senders, nonces, fees and paymasters, so that candidates meet each other all the time. */
const shape = fc.record({
  sender: fc.integer({ min: 1, max: 5 }),
  nonce: fc.bigInt({ min: 0n, max: 3n }),
  fee: fc.bigInt({ min: 0n, max: 40n }),
  tip: fc.bigInt({ min: 0n, max: 20n }),
  paymaster: fc.option(fc.integer({ min: 101, max: 102 }), { nil: undefined }),
  app: fc.integer({ min: 0, max: 1 }),
  prefund: fc.bigInt({ min: 1n, max: 30n }),
})
type Shape = typeof shape extends fc.Arbitrary<infer Value> ? Value : never

function admissionOf(chainId: number, each: Shape): Admission {
  const { sender, nonce, fee, tip, paymaster, app, prefund } = each
  const parts = [sender, nonce, fee, tip, paymaster ?? 0, app, prefund]
  const hash: Hex = `0x${parts.map((part) => part.toString(16).padStart(8, '0')).join('')}00000000`
  const operation = plainOperation({
    sender: addressOf(sender),
    nonce,
    maxFeePerGas: fee,
    maxPriorityFeePerGas: tip,
    paymaster: paymaster === undefined ? undefined : addressOf(paymaster),
  })
  return {
    entry: {
      chainId,
      hash,
      entryPoint,
      appId: apps[app]!,
      keyId: undefined,
      operation,
      prefund,
      assuredPrice: fee,
      validUntil: 0,
      factory: undefined,
      seenBlock: 0n,
      mostCharged: undefined,
      sharedBy: 1,
      validUntilBlock: 0n,
      firstValidation: undefined,
    },
    entities: undefined,
    deposit: paymaster === undefined ? undefined : 100n,
    baseFee: 7n,
  }
}

function wordOf(decision: AdmissionDecision): string {
  if (decision.kind === 'refuse') return `${decision.error.name}: ${decision.error.message}`
  if (decision.kind === 'known') return 'known'
  return `insert, not ${decision.replaces?.hash} nor ${decision.evicts?.hash}`
}

async function rowsOf(database: Database, chainId: number) {
  const columns = ['hash', 'state', 'reason_code', 'reason', 'prefund', 'paymaster'] as const
  return database
    .selectFrom('operations')
    .select(columns)
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('hash')
    .execute()
}

/** One by one, each in a transaction of its own. */
async function alone(database: Database, chainId: number, shapes: readonly Shape[]) {
  const words: string[] = []
  for (const each of shapes) {
    const [decision] = await commitAdmissions(
      database,
      chainId,
      [admissionOf(chainId, each)],
      limits,
    )
    words.push(wordOf(decision!))
  }
  return words
}

test('transactions of any size decide and store what one by one would', async () => {
  const { database } = postgres()
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(fc.array(shape, { maxLength: 40 }), sizes, async (shapes, sizes) => {
      const [single, grouped] = [++chainId, ++chainId]
      const expected = await alone(database, single, shapes)
      const words: string[] = []
      for (let at = 0, turn = 0; at < shapes.length; turn++) {
        const batch = shapes.slice(at, at + sizes[turn % sizes.length]!)
        const admissions = batch.map((each) => admissionOf(grouped, each))
        const decisions = await commitAdmissions(database, grouped, admissions, limits)
        words.push(...decisions.map(wordOf))
        at += batch.length
      }
      expect(words).toEqual(expected)
      expect(await rowsOf(database, grouped)).toEqual(await rowsOf(database, single))
    }),
    { numRuns: 40 },
  )
})

test('several processes at once keep every limit, and lose nothing that they took', async () => {
  const { database, connection } = postgres()
  const processes = [1, 2, 3].map(() => openDatabase(connection, silent, { size: 2 }))
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(shape, { maxLength: 45 }), async (shapes) => {
        const [single, shared] = [++chainId, ++chainId]
        const decided: { each: Shape; word: string }[] = []
        await Promise.all(
          processes.map(async (process, index) => {
            const own = shapes.filter((_, place) => place % processes.length === index)
            for (let at = 0; at < own.length; at += 5) {
              const batch = own.slice(at, at + 5)
              const admissions = batch.map((each) => admissionOf(shared, each))
              const decisions = await commitAdmissions(process, shared, admissions, limits)
              decided.push(...batch.map((each, i) => ({ each, word: wordOf(decisions[i]!) })))
            }
          }),
        )
        const rows = await rowsOf(database, shared)
        const live = rows.filter(({ state }) => state === 'pooled')
        expect(live.length).toBeLessThanOrEqual(limits.maxOperations)
        for (const sender of [1, 2, 3, 4, 5]) {
          const own = live.filter(({ hash }) => hash.startsWith(numberToHex(sender, { size: 4 })))
          expect(own.length).toBeLessThanOrEqual(limits.maxOperationsPerSender)
        }
        for (const paymaster of [101, 102]) {
          const pending = live
            .filter((row) => row.paymaster === addressOf(paymaster))
            .reduce((sum, { prefund }) => sum + prefund, 0n)
          expect(pending).toBeLessThanOrEqual(100n)
        }
        const inserted = decided.filter(({ word }) => word.startsWith('insert'))
        const stored = new Set(rows.map(({ hash }) => hash))
        for (const { each } of inserted)
          expect(stored).toContain(admissionOf(single, each).entry.hash)
        expect(rows.every(({ state, reason }) => state === 'pooled' || reason !== null)).toBe(true)
      }),
      { numRuns: 25 },
    )
  } finally {
    for (const each of processes) await each.destroy()
  }
})

test('the app is notified of an operation that gives way, also when it came in the same transaction', async () => {
  const { database } = postgres()
  const id = ++chainId
  const [appId] = apps
  await sql`insert into event_subscriptions (app_id, url, event_types, secret)
    values (${appId}, 'https://app.example/events', '{user_operation.dropped}', '')`.execute(
    database,
  )
  const first = {
    sender: 1,
    nonce: 0n,
    fee: 10n,
    tip: 1n,
    paymaster: undefined,
    app: 0,
    prefund: 1n,
  }
  const second = { ...first, fee: 20n, tip: 10n }
  const third = { ...first, fee: 40n, tip: 20n }
  await alone(database, id, [first])
  const admissions = [second, third].map((each) => admissionOf(id, each))
  await commitAdmissions(database, id, admissions, limits)
  const { rows } = await sql<{ hash: Hex; code: string }>`
    select data ->> 'userOpHash' as hash, data ->> 'code' as code from events
    where data ->> 'chainId' = ${String(id)} order by hash`.execute(database)
  expect(rows).toEqual(
    [first, second].map((each) => ({ hash: admissionOf(id, each).entry.hash, code: 'REPLACED' })),
  )
})

const cheap = {
  sender: 1,
  nonce: 0n,
  fee: 10n,
  tip: 1n,
  paymaster: undefined,
  app: 0,
  prefund: 1n,
}

test('an operation that a bundle is taking at this moment is not replaced, and nobody waits', async () => {
  const { database } = postgres()
  const id = ++chainId
  await alone(database, id, [cheap])
  await database.transaction().execute(async (bundling) => {
    await sql`update operations set state = 'bundled' where chain_id = ${id}`.execute(bundling)
    expect(await alone(database, id, [{ ...cheap, fee: 30n, tip: 20n }])).toEqual([
      expect.stringMatching(/^AlreadyBundledError/),
    ])
  })
})

/** Fills the pool: sender 1 with three nonces, the first the cheapest of all, then others. */
async function fillPool(database: Database, id: number) {
  const plain = { paymaster: undefined, prefund: 1n, tip: 30n, fee: 40n }
  const chain = [0n, 1n, 2n].map((nonce) => ({ ...plain, sender: 1, nonce, app: 0 }))
  const queue = chain.map((each) => (each.nonce === 0n ? { ...each, fee: 10n, tip: 1n } : each))
  const others = [2, 3, 4, 5, 6].map((sender) => ({ ...plain, sender, nonce: 0n, app: 1 }))
  await alone(database, id, [...queue, ...others])
  const rich = { ...plain, fee: 80n, tip: 60n, sender: 7, nonce: 0n, app: 1 }
  return { queue: queue.map((each) => admissionOf(id, each).entry.hash), rich }
}

test('what waits behind an operation that gives way leaves with it, and its app is notified', async () => {
  const { database } = postgres()
  const id = ++chainId
  const { queue, rich } = await fillPool(database, id)
  const [first, ...behind] = queue
  const by = admissionOf(id, rich).entry.hash
  expect(await alone(database, id, [rich])).toEqual([`insert, not undefined nor ${first}`])
  const rows = await rowsOf(database, id)
  const dropped = rows.filter(({ state }) => state === 'dropped')
  expect(new Map(dropped.map((row) => [row.hash, row.reason_code]))).toEqual(
    new Map([[first, 'EVICTED'], ...behind.map((hash) => [hash, 'PREDECESSOR_DROPPED'] as const)]),
  )
  for (const { reason, reason_code } of dropped)
    if (reason_code !== 'EVICTED') expect(reason).toContain(`operation ${first} with nonce 0`)
  const { rows: published } = await sql<{
    hash: Hex
  }>`select data ->> 'userOpHash' as hash from events
    where data ->> 'chainId' = ${String(id)} order by hash`.execute(database)
  expect(published.map(({ hash }) => hash)).toEqual([...queue].sort())
  const bounds = await sql<{ bound: bigint }>`select bound from pool_bounds
    where chain_id = ${id} and scope = 'pool'`.execute(database)
  expect(bounds.rows).toEqual([{ bound: 6n }])
  expect(rows.find(({ hash }) => hash === by)?.state).toBe('pooled')
})

test('what a bundle is taking behind an operation that gives way stays, and nobody waits', async () => {
  const { database } = postgres()
  const id = ++chainId
  const { queue, rich } = await fillPool(database, id)
  const [first, taken] = queue
  await database.transaction().execute(async (bundling) => {
    await sql`update operations set state = 'bundled' where chain_id = ${id} and hash = ${taken}`.execute(
      bundling,
    )
    expect(await alone(database, id, [rich])).toEqual([`insert, not undefined nor ${first}`])
  })
  const states = new Map((await rowsOf(database, id)).map(({ hash, state }) => [hash, state]))
  expect(queue.map((hash) => states.get(hash))).toEqual(['dropped', 'bundled', 'dropped'])
})

test('a process that stands still inside an admission is cut off; the others go on', async () => {
  const { database, connection } = postgres()
  const id = ++chainId
  const stuck = openDatabase(connection, silent, { size: 1 })
  const broken = stuck.transaction().execute(async (trx) => {
    await lockPool(trx, id)
    const refusals: unknown[] = []
    const words = await until(() =>
      alone(database, id, [cheap]).catch((error) => {
        refusals.push(error)
        return undefined
      }),
    )
    expect(words).toEqual([expect.stringMatching(/^insert/)])
    for (const error of refusals) expect(error).toBeInstanceOf(UnavailableError)
    await sql`select 1`.execute(trx)
  })
  await expect(broken).rejects.toBeInstanceOf(UnavailableError)
  await stuck.destroy()
})

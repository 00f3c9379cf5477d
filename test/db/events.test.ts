import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { type Hex, zeroHash } from 'viem'
import { beforeEach, expect, test } from 'vitest'
import { eventTypes } from '../../src/base/vocabulary.js'
import { rollBack } from '../../src/bundler/outbox/chainBlocks.js'
import { putInclusions } from '../../src/bundler/outbox/inclusions.js'
import { emitOperationEvents } from '../../src/db/events.js'
import { settleLedger } from '../../src/paymaster/ledger/ledger.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { everyExpired } from '../support/database/everyExpired.js'
import { askLedger } from '../support/database/ledger.js'
import { expectDocumentedCall } from '../support/http/documentedInterface.js'
import { alice, entryPoint, inclusionOf, tank } from '../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

let appId = ''
let chainId = 3_000_000
beforeEach(async () => {
  chainId++
  appId = await createApp(database())
  await database()
    .insertInto('event_subscriptions')
    .values({
      app_id: appId,
      url: 'https://app.example/events',
      secret: randomBytes(8),
      event_types: [...eventTypes],
    })
    .execute()
})

/** By type and nonce; each is what the document says. */
async function delivered() {
  const events = await database()
    .selectFrom('events')
    .select(['type', 'data'])
    .where('app_id', '=', appId)
    .orderBy('type')
    .orderBy(sql`data ->> 'nonce'`)
    .execute()
  const timestamp = new Date(0).toISOString()
  for (const event of events) expectDocumentedCall(JSON.stringify({ ...event, timestamp }))
  return events
}

const now = 1_000_000
function slot(nonce: bigint) {
  return {
    chainId,
    entryPoint,
    paymaster: tank,
    appId,
    sender: alice,
    nonce,
  }
}

function sponsor(nonce: bigint) {
  return askLedger(database(), {
    slot: slot(nonce),
    maxCost: 100n,
    validUntil: BigInt(now + 300),
    head: { deposit: 1_000n, blockNumber: 1n, timestamp: now },
  })
}

test('a sponsorship emits an event when signed, and when its end is final', async () => {
  const used = await sponsor(0n)
  const unused = await sponsor(1n)
  const event = inclusionOf({ slot: slot(0n), hash: used.hash, cost: 60n, block: 5n })
  const settle = (number: bigint, final: bigint) =>
    database()
      .transaction()
      .execute(async (trx) => {
        const looked = await everyExpired(trx, chainId, final)
        await settleLedger(trx, chainId, [event], { number, final, timestamp: now + 301, looked })
      })
  await settle(6n, 4n)
  const signed = ({ decisionId, hash }: typeof used, nonce: string) => ({
    type: 'sponsorship.signed',
    data: expect.objectContaining({ decisionId, userOpHash: hash, nonce, maxCostWei: '100' }),
  })
  expect(await delivered()).toEqual([signed(used, '0'), signed(unused, '1')])
  await settle(16n, 6n)
  expect(await delivered()).toEqual([
    {
      type: 'sponsorship.expired',
      data: expect.objectContaining({ nonce: '1', maxCostWei: '100' }),
    },
    {
      type: 'sponsorship.settled',
      data: expect.objectContaining({ userOpHash: used.hash, nonce: '0', actualCostWei: '60' }),
    },
    signed(used, '0'),
    signed(unused, '1'),
  ])
  await settle(17n, 7n)
  expect(await delivered()).toHaveLength(4)
})

function pool(hash: Hex, nonce: bigint, dropped: boolean) {
  return database()
    .insertInto('operations')
    .values({
      chain_id: BigInt(chainId),
      hash,
      entry_point: entryPoint,
      app_id: appId,
      sender: alice,
      nonce,
      paymaster: null,
      prefund: 0n,
      assured_price: 1n,
      valid_until: 0n,
      max_fee_per_gas: 1n,
      max_priority_fee_per_gas: 1n,
      operation: '{}',
      state: dropped ? 'dropped' : 'pooled',
      reason_code: dropped ? 'EXPIRED' : null,
    })
    .execute()
}

/** The bundle of somebody else in which an operation was included. */
const place = { bundleId: undefined, time: 1_700_000_000 }

test('an operation emits included, failed or dropped', async () => {
  const hashes = ['11', '22', '33'].map((byte): Hex => `0x${byte.repeat(32)}`)
  const [good, bad, gone] = hashes as [Hex, Hex, Hex]
  await pool(good, 0n, false)
  await pool(bad, 1n, false)
  await pool(gone, 2n, true)
  const included = (hash: Hex, nonce: bigint, success: boolean) => {
    const one = inclusionOf({ slot: slot(nonce), hash, cost: 7n, block: 9n })
    const event = { ...one.outcome.event, blockHash: zeroHash }
    return { ...one, ...place, outcome: { ...one.outcome, event, success } }
  }
  await database()
    .transaction()
    .execute(async (trx) => {
      await putInclusions(trx, chainId, [included(good, 0n, true), included(bad, 1n, false)])
      await emitOperationEvents(trx, chainId, [gone])
    })
  const about = (userOpHash: Hex, more: object) =>
    expect.objectContaining({ chainId, userOpHash, sender: alice, ...more })
  expect(await delivered()).toEqual([
    { type: 'user_operation.dropped', data: about(gone, { code: 'EXPIRED' }) },
    { type: 'user_operation.failed', data: about(bad, { success: false, blockNumber: 9 }) },
    { type: 'user_operation.included', data: about(good, { success: true, actualGasCost: '7' }) },
  ])
})

test('an inclusion that is found twice is announced once, and again when a reorg had undone it', async () => {
  const hash: Hex = `0x${'44'.repeat(32)}`
  await pool(hash, 3n, false)
  const found = { ...inclusionOf({ slot: slot(3n), hash, cost: 7n, block: 9n }), ...place }
  const settle = () =>
    database()
      .transaction()
      .execute((trx) => putInclusions(trx, chainId, [found]))
  await settle()
  await settle()
  expect(await delivered()).toHaveLength(1)
  await database()
    .transaction()
    .execute((trx) => rollBack(trx, chainId, 8n))
  await settle()
  expect(await delivered()).toHaveLength(2)
})

test('an included operation that a reorg undoes while another one has its nonce is dropped with the reason', async () => {
  const [hash, other] = [`0x${'55'.repeat(32)}`, `0x${'66'.repeat(32)}`] as [Hex, Hex]
  await pool(hash, 4n, false)
  const found = { ...inclusionOf({ slot: slot(4n), hash, cost: 7n, block: 9n }), ...place }
  await database()
    .transaction()
    .execute((trx) => putInclusions(trx, chainId, [found]))
  await pool(other, 4n, false)
  await database()
    .transaction()
    .execute((trx) => rollBack(trx, chainId, 8n))
  const [dropped] = await delivered()
  expect(dropped).toMatchObject({
    type: 'user_operation.dropped',
    data: { userOpHash: hash, code: 'REPLACED', reason: expect.stringContaining(other) },
  })
})

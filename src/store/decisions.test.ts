import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Address } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { createApp } from '../../test/support/createApp.js'
import { useDatabase } from '../../test/support/database.js'
import {
  findDecision,
  insertDecision,
  lockedByApp,
  type NewDecision,
  reserveSponsorship,
} from './decisions.js'
import { listWebhookCalls, type NewWebhookCall } from './webhookCalls.js'

const testDatabase = useDatabase()
const database = () => testDatabase().database

const entryPoint: Address = '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789'
const alice: Address = `0x${'a1'.repeat(20)}`
const bob: Address = `0x${'b0'.repeat(20)}`
const now = 1_000_000

let appId = ''
let tankId = ''

beforeEach(async () => {
  appId = await createApp(database())
  tankId = randomUUID()
})

const decision = (given: Partial<NewDecision> = {}): NewDecision => ({
  id: randomUUID(),
  app_id: appId,
  chain_id: 31337n,
  entry_point: entryPoint,
  sender: alice,
  nonce: 0n,
  user_op_hash: null,
  sponsored: true,
  code: 'SPONSORED',
  message: '',
  max_cost: 100n,
  valid_after: 0n,
  valid_until: BigInt(now + 300),
  ...given,
})

const head = (deposit: bigint, blockNumber = 10n, timestamp = now) => ({
  deposit,
  blockNumber,
  timestamp,
})

const reserve = (given: Partial<NewDecision>, at: ReturnType<typeof head>) =>
  reserveSponsorship(database(), tankId, decision(given), [], at)

const locked = (at = head(0n)) =>
  lockedByApp(database(), { app_id: appId, chain_id: 31337n, entry_point: entryPoint }, at)

const include = (given: { sender: Address; nonce: bigint; block: bigint }) =>
  database()
    .insertInto('inclusions')
    .values({
      chain_id: 31337n,
      user_op_hash: `0x${Buffer.from(randomUUID()).toString('hex')}`,
      entry_point: entryPoint,
      sender: given.sender,
      nonce: given.nonce,
      paymaster: alice,
      success: true,
      actual_gas_cost: 50n,
      actual_gas_used: 1n,
      reason: '0x',
      transaction_hash: '0x',
      block_number: given.block,
      block_hash: '0x',
      log_index: 0,
      logs: '[]',
    })
    .execute()

describe('reserveSponsorship', () => {
  test('grants to the last wei and not beyond, and stores nothing then', async () => {
    expect(await reserve({ nonce: 0n }, head(250n))).toEqual({ granted: true, locked: 0n })
    expect(await reserve({ nonce: 1n, max_cost: 150n }, head(250n))).toEqual({
      granted: true,
      locked: 100n,
    })
    const refused = decision({ nonce: 2n, max_cost: 1n })
    const result = await reserveSponsorship(database(), tankId, refused, [], head(250n))
    expect(result).toEqual({ granted: false, locked: 250n })
    expect(await findDecision(database(), refused.id)).toBeUndefined()
  })

  test('of one nonce only the dearest sponsorship counts', async () => {
    await reserve({ max_cost: 100n }, head(300n))
    await reserve({ max_cost: 200n }, head(300n))
    await reserve({ max_cost: 150n }, head(300n))
    expect(await locked()).toBe(200n)
    expect((await reserve({ sender: bob, max_cost: 101n }, head(300n))).granted).toBe(false)
    expect((await reserve({ sender: bob, max_cost: 100n }, head(300n))).granted).toBe(true)
  })

  test('a cheaper sponsorship of the same nonce still needs room for the dearest', async () => {
    await reserve({ max_cost: 200n }, head(300n))
    expect((await reserve({ max_cost: 10n }, head(199n))).granted).toBe(false)
    expect((await reserve({ max_cost: 10n }, head(200n))).granted).toBe(true)
  })

  test('refusals, other apps, chains and entry points lock nothing', async () => {
    await insertDecision(database(), decision({ sponsored: false, code: 'TANK_EMPTY' }), [])
    await reserve({ chain_id: 1n }, head(100n))
    await reserve({ entry_point: bob }, head(100n))
    expect(await locked()).toBe(0n)
  })

  test('a sponsorship ends when its time is over at the head', async () => {
    await reserve({ valid_until: BigInt(now) }, head(100n))
    expect(await locked(head(0n, 10n, now))).toBe(100n)
    expect(await locked(head(0n, 11n, now + 1))).toBe(0n)
  })

  test('a sponsorship ends with the inclusion of its nonce, at the block of the deposit', async () => {
    await reserve({ nonce: 7n }, head(500n))
    await reserve({ nonce: 8n }, head(500n))
    await include({ sender: alice, nonce: 7n, block: 11n })
    await include({ sender: bob, nonce: 8n, block: 11n })
    expect(await locked(head(0n, 10n))).toBe(200n)
    expect(await locked(head(0n, 11n))).toBe(100n)
  })

  test('holds wei beyond 64 bits', async () => {
    const huge = 2n ** 200n
    await reserve({ max_cost: huge }, head(huge))
    expect(await locked()).toBe(huge)
  })

  test('stores the decision with its webhook calls', async () => {
    const call: NewWebhookCall = {
      webhook_id: randomUUID(),
      outcome: 'approved',
      http_status: 200,
      reason: null,
      attempts: 1,
      duration_ms: 1.5,
      started_at: new Date(0),
    }
    const given = decision({ user_op_hash: '0x12' })
    await reserveSponsorship(database(), tankId, given, [call], head(100n))
    expect(await findDecision(database(), given.id)).toMatchObject({ ...given })
    const calls = await listWebhookCalls(database(), given.id)
    expect(calls).toMatchObject([{ ...call, app_id: appId }])
  })

  let nextChain = 1_000_000n

  test('concurrent sponsorships never lock more than the deposit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 0n, max: 2_000n }),
        fc.array(
          fc.record({
            sender: fc.constantFrom(alice, bob),
            nonce: fc.bigInt({ min: 0n, max: 4n }),
            max_cost: fc.bigInt({ min: 1n, max: 400n }),
          }),
          { minLength: 2, maxLength: 24 },
        ),
        async (deposit, requests) => {
          const chainId = nextChain++
          const results = await Promise.all(
            requests.map((request) => reserve({ ...request, chain_id: chainId }, head(deposit))),
          )
          const granted = requests.filter((_, index) => results[index]?.granted)
          const dearest = new Map<string, bigint>()
          for (const { sender, nonce, max_cost } of granted) {
            const key = `${sender} ${nonce}`
            const known = dearest.get(key) ?? 0n
            dearest.set(key, max_cost > known ? max_cost : known)
          }
          const sum = [...dearest.values()].reduce((total, cost) => total + cost, 0n)
          expect(sum).toBeLessThanOrEqual(deposit)
          const refused = requests.filter((_, index) => !results[index]?.granted)
          for (const { sender, nonce, max_cost } of refused) {
            const same = dearest.get(`${sender} ${nonce}`) ?? 0n
            const cost = max_cost > same ? max_cost : same
            expect(sum - same + cost).toBeGreaterThan(deposit)
          }
        },
      ),
      { numRuns: 40 },
    )
  })
})

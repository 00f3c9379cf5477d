import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import type { Address } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import { findDecision } from '../../../src/paymaster/ledger/decisions.js'
import { settleLedger } from '../../../src/paymaster/ledger/ledger.js'
import { lockedAt } from '../../../src/paymaster/ledger/payers.js'
import type { ReservationSlot } from '../../../src/paymaster/ledger/reservations.js'
import {
  listWebhookCalls,
  type NewWebhookCall,
} from '../../../src/paymaster/ledger/webhookCalls.js'
import type { BudgetClaim } from '../../../src/paymaster/policy/budget/budget.js'
import type { ReservationClaim } from '../../../src/paymaster/policy/decideReservation.js'
import { previewReservations, reserveTogether } from '../../../src/paymaster/policy/reserve.js'
import { createApp } from '../../support/database/createApp.js'
import { useDatabase } from '../../support/database/database.js'
import { everyExpired } from '../../support/database/everyExpired.js'
import { askLedger, budgetClaim, toReservation } from '../../support/database/ledger.js'
import { recordStatements } from '../../support/database/recordStatements.js'
import { usedOf } from '../../support/database/usedOf.js'
import { alice, bob, entryPoint, inclusionOf, tank } from '../../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}
const now = 1_000_000

let appId = ''
let chainId = 1_000_000

beforeEach(async () => {
  appId = await createApp(database())
  chainId++
})

function slotOf(given: Partial<ReservationSlot> = {}): ReservationSlot {
  return {
    chainId,
    entryPoint,
    paymaster: tank,
    appId,
    sender: alice,
    nonce: 0n,
    ...given,
  }
}

type Given = Partial<ReservationSlot> & {
  max_cost?: bigint
  until?: number
  claim?: Partial<ReservationClaim>
}

function head(deposit: bigint, blockNumber = 10n, timestamp = now) {
  return {
    deposit,
    blockNumber,
    timestamp,
  }
}

async function ask(
  { max_cost = 100n, until = now + 300, claim = {}, ...slot }: Given,
  at: ReturnType<typeof head>,
  calls: readonly NewWebhookCall[] = [],
) {
  return askLedger(database(), {
    slot: slotOf(slot),
    maxCost: max_cost,
    validUntil: BigInt(until),
    head: at,
    claim,
    calls,
  })
}

async function grants(given: Given, at: ReturnType<typeof head>) {
  return (await ask(given, at)).reserved.kind === 'granted'
}

async function locked(at = head(0n)) {
  return (await lockedAt(database(), slotOf(), [at]))[0]
}

function include(sender: Address, nonce: bigint, block: bigint) {
  return database()
    .transaction()
    .execute((trx) => {
      const hash = `0x${Buffer.from(randomUUID()).toString('hex')}` as const
      const included = inclusionOf({ slot: slotOf({ sender, nonce }), hash, cost: 50n, block })
      return settleLedger(trx, chainId, [included], undefined)
    })
}

describe('the deposit', () => {
  test('is given to the last wei and not beyond, and a refusal stores nothing', async () => {
    expect((await ask({ nonce: 0n }, head(250n))).reserved).toMatchObject({
      kind: 'granted',
      locked: 0n,
    })
    expect((await ask({ nonce: 1n, max_cost: 150n }, head(250n))).reserved).toMatchObject({
      kind: 'granted',
      locked: 100n,
    })
    const refused = await ask({ nonce: 2n, max_cost: 1n }, head(250n))
    expect(refused.reserved).toMatchObject({ kind: 'short', locked: 250n })
    expect(await findDecision(database(), refused.decisionId)).toBeUndefined()
  })

  test('is locked by the most expensive sponsorship of a nonce only', async () => {
    await ask({ max_cost: 100n }, head(300n))
    await ask({ max_cost: 200n }, head(300n))
    await ask({ max_cost: 150n }, head(300n))
    expect(await locked()).toBe(200n)
    expect(await grants({ sender: bob, max_cost: 101n }, head(300n))).toBe(false)
    expect(await grants({ sender: bob, max_cost: 100n }, head(300n))).toBe(true)
  })

  test('must cover the most expensive one also for a cheaper sponsorship of the same nonce', async () => {
    await ask({ max_cost: 200n }, head(300n))
    expect(await grants({ max_cost: 10n }, head(199n))).toBe(false)
    expect(await grants({ max_cost: 10n }, head(200n))).toBe(true)
  })

  test('is not locked by other payers, chains and entry points', async () => {
    await ask({ chainId: 1 }, head(100n))
    await ask({ entryPoint: bob }, head(100n))
    await ask({ paymaster: bob }, head(100n))
    expect(await locked()).toBe(0n)
  })

  test('of a shared payer is locked by all apps', async () => {
    await ask({}, head(100n))
    const other = await createApp(database())
    expect(await grants({ appId: other, sender: bob, max_cost: 1n }, head(100n))).toBe(false)
  })

  test('is free again when the time of a sponsorship is over at the head', async () => {
    await ask({ until: now }, head(100n))
    expect(await locked(head(0n, 10n, now))).toBe(100n)
    expect(await locked(head(0n, 11n, now + 1))).toBe(0n)
  })

  test('is free again with the inclusion of the nonce, at the block of the deposit', async () => {
    await ask({ nonce: 7n }, head(500n))
    await ask({ nonce: 8n }, head(500n))
    await include(alice, 7n, 11n)
    await include(bob, 8n, 11n)
    expect(await locked(head(0n, 10n))).toBe(200n)
    expect(await locked(head(0n, 11n))).toBe(100n)
  })

  test('holds wei beyond 64 bits', async () => {
    const huge = 2n ** 200n
    await ask({ max_cost: huge }, head(huge))
    expect(await locked()).toBe(huge)
  })

  test('concurrent sponsorships never lock more than there is', async () => {
    const requests = fc.array(
      fc.record({
        sender: fc.constantFrom(alice, bob),
        nonce: fc.bigInt({ min: 0n, max: 4n }),
        max_cost: fc.bigInt({ min: 1n, max: 400n }),
      }),
      { minLength: 2, maxLength: 24 },
    )
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 0n, max: 2_000n }), requests, async (deposit, asked) => {
        chainId++
        const granted = await Promise.all(asked.map((request) => grants(request, head(deposit))))
        const highest = new Map<string, bigint>()
        for (const [index, { sender, nonce, max_cost }] of asked.entries()) {
          const key = `${sender} ${nonce}`
          const known = highest.get(key) ?? 0n
          if (granted[index]) highest.set(key, max_cost > known ? max_cost : known)
        }
        const sum = [...highest.values()].reduce((total, cost) => total + cost, 0n)
        expect(sum).toBeLessThanOrEqual(deposit)
        for (const [index, { sender, nonce, max_cost }] of asked.entries()) {
          if (granted[index]) continue
          const same = highest.get(`${sender} ${nonce}`) ?? 0n
          expect(sum - same + (max_cost > same ? max_cost : same)).toBeGreaterThan(deposit)
        }
      }),
      { numRuns: 40 },
    )
  })
})

test('a sponsorship is stored with its webhook calls', async () => {
  const call: NewWebhookCall = {
    webhook_id: randomUUID(),
    outcome: 'approved',
    http_status: 200,
    reason: null,
    attempts: 1,
    duration_ms: 1.5,
    started_at: new Date(0),
  }
  const { decisionId } = await ask({}, head(100n), [call])
  expect(await findDecision(database(), decisionId)).toMatchObject({ app_id: appId, sender: alice })
  expect(await listWebhookCalls(database(), decisionId)).toMatchObject([{ ...call, app_id: appId }])
})

test('a nonce that was used is not sponsored again', async () => {
  await ask({ nonce: 3n }, head(500n))
  await include(alice, 3n, 11n)
  const { reserved } = await ask({ nonce: 3n }, head(500n))
  expect(reserved).toMatchObject({ kind: 'refused', refusal: { code: 'NONCE_USED' } })
})

test('a nonce is sponsored a thousand times at most, until all of them have ended', async () => {
  const [slot, validUntil] = [slotOf(), BigInt(now + 300)]
  const asked = Array.from({ length: 1_001 }, () =>
    toReservation({ slot, maxCost: 100n, validUntil, head: head(500n) }),
  )
  const kinds = (await reserveTogether(database(), asked)).map(({ kind }) => kind)
  expect(kinds).toEqual([...Array(1_000).fill('granted'), 'refused'])
  const { reserved } = await ask({}, head(500n))
  expect(reserved).toMatchObject({
    kind: 'refused',
    refusal: { code: 'TOO_MUCH_UNSENT', message: expect.stringMatching(/1000 times/) },
  })
  expect(await grants({ nonce: 1n }, head(500n))).toBe(true)
  for (const _ of ['expired', 'released'])
    await database()
      .transaction()
      .execute(async (trx) => {
        const looked = await everyExpired(trx, chainId, 20n)
        const progress = { number: 20n, timestamp: now + 301, final: 20n, looked }
        await settleLedger(trx, chainId, [], progress)
      })
  expect(await grants({ until: now + 700 }, head(500n, 20n, now + 301))).toBe(true)
})

describe('budgets', () => {
  let policyId = ''
  beforeEach(() => {
    policyId = randomUUID()
  })

  const wealth = head(10n ** 30n)
  const candidate = (...claims: readonly Partial<BudgetClaim>[]) => ({
    policyId,
    claims: claims.map((claim) => budgetClaim({ policyId, ...claim })),
  })
  const within = (limit: bigint, amount: bigint, more: Partial<BudgetClaim> = {}) => ({
    max_cost: amount,
    claim: { ofApp: [candidate({ limit, amount, ...more })] },
  })
  const used = async (oldest = 0n, of = policyId) => {
    const query = { policyId: of, budget: 'app wei never', subject: '', oldest }
    return usedOf(database(), query)
  }

  test('are used to the last wei and not beyond', async () => {
    expect(await grants({ nonce: 0n, ...within(250n, 100n) }, wealth)).toBe(true)
    expect(await grants({ nonce: 1n, ...within(250n, 150n) }, wealth)).toBe(true)
    const { reserved } = await ask({ nonce: 2n, ...within(250n, 1n) }, wealth)
    expect(reserved).toMatchObject({
      kind: 'refused',
      policyId,
      refusal: { code: 'BUDGET_EXCEEDED', message: expect.stringMatching(/250 wei of 250 wei/) },
    })
    expect(await used()).toBe(250n)
  })

  test('count only the most expensive one of a nonce, in whatever order they come', async () => {
    for (const amount of [100n, 200n, 150n]) await ask(within(200n, amount), wealth)
    expect(await used()).toBe(200n)
    expect(await grants(within(200n, 201n), wealth)).toBe(false)
  })

  test('count a nonce once, in the bucket of its latest sponsorship', async () => {
    await ask(within(100n, 60n, { bucket: 100, oldest: 40 }), wealth)
    expect(await grants(within(100n, 70n, { bucket: 120, oldest: 60 }), wealth)).toBe(true)
    expect(await used(110n)).toBe(70n)
    expect(await used(40n)).toBe(70n)
    // A head that lags behind does not take it back to an older bucket.
    expect(await grants(within(100n, 65n, { bucket: 110, oldest: 50 }), wealth)).toBe(true)
    expect(await used(111n)).toBe(70n)
    expect(await grants(within(100n, 80n, { bucket: 190, oldest: 130 }), wealth)).toBe(true)
    expect(await used(40n)).toBe(80n)
    expect(await used(190n)).toBe(80n)
  })

  test('do not let a nonce that was counted early for 1 wei take a whole window later', async () => {
    await ask({ nonce: 0n, ...within(100n, 1n, { bucket: 100, oldest: 40 }) }, wealth)
    const grown = within(100n, 100n, { bucket: 159, oldest: 99 })
    expect(await grants({ nonce: 0n, ...grown }, wealth)).toBe(true)
    const next = within(100n, 1n, { bucket: 161, oldest: 101 })
    expect(await grants({ nonce: 1n, ...next }, wealth)).toBe(false)
  })

  test('free their amounts when the older buckets expire', async () => {
    await ask({ nonce: 0n, ...within(100n, 100n, { bucket: 100, oldest: 40 }) }, wealth)
    const later = within(100n, 1n, { bucket: 160, oldest: 100 })
    expect(await grants({ nonce: 1n, ...later }, wealth)).toBe(false)
    const free = within(100n, 1n, { bucket: 161, oldest: 101 })
    expect(await grants({ nonce: 1n, ...free }, wealth)).toBe(true)
  })

  test('the first policy with enough left sponsors, and only it is charged', async () => {
    const second = randomUUID()
    const claim = {
      ofApp: [
        candidate({ limit: 99n, amount: 100n }),
        {
          policyId: second,
          claims: [budgetClaim({ policyId: second, limit: 100n, amount: 100n })],
        },
      ],
    }
    const { reserved } = await ask({ claim }, wealth)
    expect(reserved).toMatchObject({ kind: 'granted', policyId: second })
    expect([await used(), await used(0n, second)]).toEqual([0n, 100n])
  })

  test('all policies of the account must have enough left', async () => {
    const second = randomUUID()
    const ofAccount = [
      candidate({ limit: 100n, amount: 100n }),
      { policyId: second, claims: [budgetClaim({ policyId: second, limit: 99n, amount: 100n })] },
    ]
    const { reserved } = await ask({ claim: { ofAccount } }, wealth)
    expect(reserved).toMatchObject({ kind: 'refused', policyId: second })
    expect(await used()).toBe(0n)
  })

  test('a preview says the same and changes nothing', async () => {
    const { max_cost, claim } = within(100n, 100n)
    const asked = {
      slot: slotOf(),
      head: wealth,
      claim: { maxCost: max_cost, ofAccount: [], ...claim },
    }
    const preview = () => previewReservations(database(), [asked])
    expect(await preview()).toMatchObject([{ kind: 'granted', policyId }])
    expect(await used()).toBe(0n)
    await ask({ nonce: 1n, max_cost, claim }, wealth)
    expect(await preview()).toMatchObject([{ kind: 'refused', policyId }])
    expect(await locked()).toBe(100n)
  })

  test('previews of many policies take one read, and none counts for the next', async () => {
    const second = randomUUID()
    const candidates = [
      candidate({ limit: 150n, amount: 100n }),
      candidate({ limit: 150n, amount: 100n }),
      { policyId: second, claims: [budgetClaim({ policyId: second, limit: 99n, amount: 100n })] },
    ]
    const asked = candidates.map((each) => ({
      slot: slotOf(),
      head: wealth,
      claim: { maxCost: 100n, ofAccount: [each], ofApp: undefined },
      available: 1_000n,
    }))
    const { recorded, statements } = recordStatements(database())
    expect(await previewReservations(recorded, asked)).toMatchObject([
      { kind: 'granted' },
      { kind: 'granted' },
      { kind: 'refused', policyId: second },
    ])
    expect(statements).toHaveLength(1)
  })

  test('many at once take exactly what there is', async () => {
    const asked = Array.from({ length: 30 }, (_, nonce) =>
      grants({ nonce: BigInt(nonce), ...within(1_000n, 100n) }, wealth),
    )
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(10)
    expect(await used()).toBe(1_000n)
  })
})

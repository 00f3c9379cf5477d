import { randomUUID } from 'node:crypto'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { counterName } from '../../../src/paymaster/ledger/budgetCounters.js'
import { lockedAt } from '../../../src/paymaster/ledger/payers.js'
import { MOST_CLAIMS } from '../../../src/paymaster/policy/budget/budget.js'
import {
  type Reservation,
  type Reserved,
  reserve,
  reserveTogether,
} from '../../../src/paymaster/policy/reserve.js'
import { createApp } from '../../support/database/createApp.js'
import { useDatabase } from '../../support/database/database.js'
import { askLedger, budgetClaim, toReservation } from '../../support/database/ledger.js'
import { alice, bob, entryPoint, tank } from '../../support/operations/inclusionOf.js'
import { randomRuns } from '../../support/runs.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

const at = 1_000_000
let chainId = 4_000_000

/** Sponsorships of a rolling budget of one policy, and of a budget that never begins anew of another. */
const sponsorship = fc.record({
  app: fc.nat(1),
  sender: fc.constantFrom(alice, bob),
  nonce: fc.bigInt({ min: 0n, max: 3n }),
  cost: fc.bigInt({ min: 1n, max: 200n }),
  seconds: fc.integer({ min: 1, max: 30 }),
  /** The seconds after the first request. */
  later: fc.integer({ min: 0, max: 15 }),
  claims: fc.array(fc.constantFrom('account', 'first', 'second'), { maxLength: 3 }),
})
type Sponsorship = typeof sponsorship extends fc.Arbitrary<infer Each> ? Each : never

const limits = fc.record({
  deposit: fc.bigInt({ min: 0n, max: 2_000n }),
  rolling: fc.bigInt({ min: 0n, max: 600n }),
  ever: fc.bigInt({ min: 0n, max: 1_200n }),
})
type Limits = typeof limits extends fc.Arbitrary<infer Each> ? Each : never

async function createWorld({ deposit, rolling, ever }: Limits) {
  const payer = { chainId: ++chainId, entryPoint, paymaster: tank }
  const apps = [await createApp(database()), await createApp(database())]
  const policies = { account: randomUUID(), first: randomUUID(), second: randomUUID() }
  const names = new Map<string, string>(Object.entries(policies).map(([name, id]) => [id, name]))

  const ask = ({ app, later, ...each }: Sponsorship): Reservation => {
    const candidate = (name: keyof typeof policies) => {
      const policyId = policies[name]
      const common = { policyId, amount: each.cost, subject: each.sender }
      const claim =
        name === 'account'
          ? { limit: ever }
          : { limit: rolling, budget: 'rolling', bucket: at + later, oldest: at + later - 10 }
      return { policyId, claims: [budgetClaim({ ...common, ...claim })] }
    }
    const own = each.claims.filter((name) => name !== 'account')
    return toReservation({
      slot: { ...payer, appId: apps[app]!, sender: each.sender, nonce: each.nonce },
      maxCost: each.cost,
      validUntil: BigInt(at + later + each.seconds),
      head: { deposit, blockNumber: BigInt(later), timestamp: at + later },
      claim: {
        ofAccount: each.claims.includes('account') ? [candidate('account')] : [],
        ofApp: own.length === 0 ? undefined : [...new Set(own)].map(candidate),
      },
    })
  }

  /** The answer without the parts that are new in each world, such as ids. */
  const comparable = (reserved: Reserved) => ({
    kind: reserved.kind,
    locked: reserved.locked,
    ...(reserved.kind === 'refused' && { refusal: reserved.refusal }),
    ...(reserved.kind !== 'short' && { policy: names.get(reserved.policyId ?? '') }),
    ...(reserved.kind === 'granted' && {
      charges: reserved.charges.map(({ policyId, ...charge }) => [names.get(policyId), charge]),
    }),
  })

  const books = async () => {
    const counters = await database()
      .selectFrom('budget_counters')
      .selectAll()
      .where('policy_id', 'in', Object.values(policies))
      .execute()
    const rows = counters.map((row) => [
      counterName({ ...row, policyId: names.get(row.policy_id) ?? '' }),
      row.used,
    ])
    const moments = [0, 7, 15, 25].map((later) => ({
      blockNumber: BigInt(later),
      timestamp: at + later,
    }))
    return { counters: rows.sort(), locked: await lockedAt(database(), payer, moments) }
  }

  return { ask, comparable, books }
}

test('what is decided together is what would be decided one after the other', async () => {
  const batches = fc.array(fc.array(sponsorship, { minLength: 1, maxLength: 12 }), {
    minLength: 1,
    maxLength: 3,
  })
  await fc.assert(
    fc.asyncProperty(limits, batches, async (given, asked) => {
      const [one, other] = [await createWorld(given), await createWorld(given)]
      for (const batch of asked) {
        const together = await reserveTogether(database(), batch.map(one.ask))
        const apart: Reserved[] = []
        for (const each of batch) apart.push(await reserve(database(), other.ask(each)))
        expect(together.map(one.comparable)).toEqual(apart.map(other.comparable))
        expect(await one.books()).toEqual(await other.books())
      }
    }),
    { numRuns: randomRuns(60) },
  )
})

test('sponsorships of several payers are not decided together', async () => {
  const world = await createWorld({ deposit: 1n, rolling: 1n, ever: 1n })
  const asked = { app: 0, sender: alice, nonce: 0n, cost: 1n, seconds: 1, later: 0, claims: [] }
  const mine = world.ask(asked)
  const { request } = mine
  const theirs = {
    ...mine,
    request: { ...request, slot: { ...request.slot, paymaster: bob } },
  }
  await expect(reserveTogether(database(), [mine, theirs])).rejects.toThrow('several payers')
})

test('a nonce is sponsored again under as many budgets as an app can have, and nobody waits for it', async () => {
  const payer = { chainId: ++chainId, entryPoint, paymaster: tank }
  const appId = await createApp(database())
  const policyId = randomUUID()
  const claims = Array.from({ length: MOST_CLAIMS }, (_, place) =>
    budgetClaim({ policyId, budget: `budget ${place}`, amount: 1n, subject: alice, limit: 1n }),
  )
  const asked = {
    slot: { ...payer, appId, sender: alice, nonce: 0n },
    maxCost: 1n,
    validUntil: BigInt(at),
    head: { deposit: 1n, blockNumber: 0n, timestamp: at },
    claim: { ofAccount: [{ policyId, claims }] },
  }
  expect((await askLedger(database(), asked)).reserved.kind).toBe('granted')
  const delay = monitorEventLoopDelay()
  delay.enable()
  expect((await askLedger(database(), asked)).reserved.kind).toBe('granted')
  delay.disable()
  // Nanoseconds; to look for each claim among all that the nonce holds took most of a minute.
  expect(delay.max).toBeLessThan(5e9)
})

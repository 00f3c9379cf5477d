import { z } from 'zod'
import { sum } from '../base/bigints.js'
import { type Fork, forks } from '../evm/index.js'
import { spentBudget } from '../paymaster/policy/budgetForecast.js'
import { type AnswerOf, address, hash, id, time, wei } from '../tenants/schemas.js'
import type { GroupTotal, PastSpend, SpendGroup } from './rehearsal.js'

const costs = z.object({
  operations: z.string(),
  /** Those that were run again, and those of them that fail as they were signed. */
  rehearsed: z.int(),
  failing: z.int(),
  cost: wei,
  /** At the same prices per gas; null = none of them could be run. */
  forecast: wei.nullable(),
})

const runway = z.object({
  daily: wei,
  /** null = nothing is spent */
  days: z.number().nullable(),
})

const operation = z.object({
  userOpHash: hash,
  appId: id,
  appName: z.string(),
  policyId: id.nullable(),
  policyName: z.string().nullable(),
  sender: address,
  entryPoint: address,
  paymaster: address,
  /** The state on which it ran; null = it could not be repeated, so that nothing is known. */
  state: z.enum(['before', 'newest']).nullable(),
  gas: z.string(),
  /** With the limits of a new estimate; null = it fails with these too. */
  forecastGas: z.string().nullable(),
  cost: wei,
  forecastCost: wei.nullable(),
  /** Why it fails as it was signed; null = it does not. */
  code: z.string().nullable(),
  message: z.string().nullable(),
})

/** What recorded operations would become by the rules of a fork. */
export const rehearsal = z.object({
  fork: z.enum(forks),
  /** When the chain announces it for; null = it does not. */
  at: time.nullable(),
  from: time,
  until: time,
  /** Included operations of the time. */
  recorded: z.string(),
  /** By app, policy and payer; those that cost most first. */
  spending: z.array(
    costs.extend({
      appId: id,
      appName: z.string(),
      policyId: id.nullable(),
      policyName: z.string().nullable(),
      paidBy: z.enum(['sponsor', 'sender']),
    }),
  ),
  /** Those that would not have been enough; of each the subjects that use most. */
  budgets: z.array(
    z.object({
      policyId: id,
      policyName: z.string().nullable(),
      ...spentBudget.shape,
    }),
  ),
  funds: z.array(
    z.object({
      kind: z.enum(['tank', 'credit']),
      id,
      /** null = the operator's tank */
      appId: id.nullable(),
      available: z.string(),
      now: runway,
      forecast: runway,
      /** Whether its alert would be on. */
      low: z.boolean(),
    }),
  ),
  /** Those that were run again, the newest first. */
  operations: z.array(operation),
})

/** What became of a recorded operation by other rules. */
export type Rehearsed = PastSpend & {
  /** undefined = it could not be repeated, so that nothing is known. */
  readonly outcome:
    | {
        readonly isNewest: boolean
        readonly failure: { readonly code: string; readonly message: string } | undefined
        /** undefined = it fails with every limit. */
        readonly gas: bigint | undefined
        /** wei */
        readonly maxCost: bigint | undefined
      }
    | undefined
}

export type RehearsalQuestion = {
  readonly fork: Fork
  readonly from: Date
  readonly until: Date
  /** Operations that are run again, at most. */
  readonly limit: number
  /** Milliseconds after which no further one is begun. */
  readonly mostTime: number
}

/** A rehearsal before it is answered. */
export type Rehearsal = Pick<
  AnswerOf<typeof rehearsal>,
  'at' | 'recorded' | 'spending' | 'budgets' | 'funds'
> & {
  /** Those that were run again. */
  readonly operations: readonly Rehearsed[]
}

const nobody = `0x${'00'.repeat(20)}`

/** By app, policy and payer; those that cost most first. */
export function forecastSpending(totals: readonly GroupTotal[], rehearsed: readonly Rehearsed[]) {
  const keys = new Set(totals.map(spendKey))
  return [...keys]
    .flatMap((key) => {
      const own = totals.filter((each) => spendKey(each) === key)
      const [first] = own
      if (first === undefined) return []
      const { appId, appName, policyId, policyName } = first
      const runs = rehearsed.filter((each) => spendKey(each) === key)
      return [
        { appId, appName, policyId, policyName, paidBy: paidBy(first), ...forecastOf(own, runs) },
      ]
    })
    .sort((a, b) => Number(b.forecast ?? b.cost) - Number(a.forecast ?? a.cost))
}

function spendKey(of: SpendGroup): string {
  return `${of.appId} ${of.policyId} ${paidBy(of)}`
}

function paidBy({ policyId, paymaster }: SpendGroup): 'sender' | 'sponsor' {
  return policyId === null && paymaster === nobody ? 'sender' : 'sponsor'
}

/** The forecast for operations whose totals and runs these are. */
function forecastOf(totals: readonly GroupTotal[], rehearsed: readonly Rehearsed[]) {
  const cost = sum(totals.map((each) => each.cost))
  const ran = rehearsed.filter(({ outcome }) => outcome !== undefined)
  const grown = growthOf(rehearsed)
  return {
    operations: sum(totals.map(({ operations }) => operations)),
    rehearsed: ran.length,
    failing: ran.filter(({ outcome }) => outcome?.failure !== undefined).length,
    cost,
    forecast: grown?.(cost) ?? null,
  }
}

/** wei that an operation would cost at the price that was paid for it; undefined = it fails. */
export function forecastCost({ outcome, cost, gas }: Rehearsed): bigint | undefined {
  return outcome?.gas === undefined || gas === 0n ? undefined : (cost * outcome.gas) / gas
}

/** From an amount that such operations cost to what they would cost; undefined where none of them could be run. */
export function growthOf(
  rehearsed: readonly Rehearsed[],
): ((amount: bigint) => bigint) | undefined {
  const priced = rehearsed.flatMap((each) => {
    const forecast = forecastCost(each)
    return forecast === undefined ? [] : [{ cost: each.cost, forecast }]
  })
  const before = sum(priced.map(({ cost }) => cost))
  const after = sum(priced.map(({ forecast }) => forecast))
  return before === 0n ? undefined : (amount) => (amount * after) / before
}

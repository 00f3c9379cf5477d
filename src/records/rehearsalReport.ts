import { sum } from '../base/bigints.js'
import type { Fork } from '../evm/index.js'
import type { SpentBudget } from '../paymaster/policy/budgetForecast.js'
import type { Runway } from '../paymaster/runway.js'
import type { GroupTotal, PastSpend, SpendGroup } from './rehearsal.js'

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

/** What operations that have something in common cost, and would cost. */
export type CostForecast = {
  readonly operations: bigint
  /** Those that were run again. */
  readonly rehearsed: number
  /** Those of them that fail as they were signed. */
  readonly failing: number
  /** wei that all of them cost */
  readonly cost: bigint
  /** wei that they would cost at the same prices; undefined where none could be run */
  readonly forecast: bigint | undefined
}

export type SpendForecast = Pick<SpendGroup, 'appId' | 'appName' | 'policyId' | 'policyName'> &
  CostForecast & { readonly paidBy: 'sponsor' | 'sender' }

/** A tank or a credit, and how long it lasts by either cost. */
export type FundForecast = {
  readonly kind: 'tank' | 'credit'
  readonly id: string
  /** null = the operator's tank */
  readonly appId: string | null
  /** wei */
  readonly available: bigint
  readonly runway: Runway
  readonly forecast: Runway
  /** Whether its alert would be on. */
  readonly low: boolean
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

/** What recorded operations would become by the rules of a fork. */
export type Rehearsal = {
  /** Unix seconds; undefined = the chain does not announce it. */
  readonly activation: number | undefined
  /** Included operations of the span. */
  readonly recorded: bigint
  readonly spending: readonly SpendForecast[]
  readonly budgets: readonly (SpentBudget &
    Pick<SpendGroup, 'policyName'> & { readonly policyId: string })[]
  readonly funds: readonly FundForecast[]
  /** Those that were run again. */
  readonly operations: readonly Rehearsed[]
}

const nobody = `0x${'00'.repeat(20)}`

/** By app, policy and payer; those that cost most first. */
export function forecastSpending(
  totals: readonly GroupTotal[],
  rehearsed: readonly Rehearsed[],
): readonly SpendForecast[] {
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

function paidBy({ policyId, paymaster }: SpendGroup): SpendForecast['paidBy'] {
  return policyId === null && paymaster === nobody ? 'sender' : 'sponsor'
}

/** The forecast for operations whose totals and runs these are. */
export function forecastOf(
  totals: readonly GroupTotal[],
  rehearsed: readonly Rehearsed[],
): CostForecast {
  const cost = sum(totals.map((each) => each.cost))
  const ran = rehearsed.filter(({ outcome }) => outcome !== undefined)
  const grown = growthOf(rehearsed)
  return {
    operations: sum(totals.map(({ operations }) => operations)),
    rehearsed: ran.length,
    failing: ran.filter(({ outcome }) => outcome?.failure !== undefined).length,
    cost,
    forecast: grown?.(cost),
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

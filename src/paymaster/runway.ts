/** The wei that were spent within the last `days` days. */
type RecentSpending = { readonly spent: bigint; readonly days: number }

/** The days of spending that a runway is derived from. */
export const SPENDING_DAYS = 7

/** The time for which an amount lasts. */
export type Runway = {
  /** wei that a day costs, by recent spending */
  readonly daily: bigint
  /** undefined = nothing is spent, so it lasts for ever */
  readonly days: number | undefined
}

/**
 * The runway of `available` wei at the pace of the last week. Spending that began less than a day
 * ago counts as a day's, so the first operations of an app do not look like an avalanche.
 */
export function runwayOf(available: bigint, { spent, days }: RecentSpending): Runway {
  const span = Math.min(Math.max(days, 1), SPENDING_DAYS)
  const daily = (spent * 1_000n) / BigInt(Math.round(span * 1_000))
  if (daily === 0n) return { daily, days: undefined }
  const left = available > 0n ? available : 0n
  return { daily, days: Number((left * 100n) / daily) / 100 }
}

/** The levels below which an alert goes off; 0 = never for that reason. */
export type AlertTerms = {
  /** wei */
  readonly wei: bigint
  readonly days: number
}

export function isLow(available: bigint, { days }: Runway, terms: AlertTerms): boolean {
  return available < terms.wei || (days !== undefined && days < terms.days)
}

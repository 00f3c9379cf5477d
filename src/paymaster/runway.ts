/** wei and days */
export type RecentSpending = { readonly spent: bigint; readonly days: number }

/** How far back spending is looked at. */
export const SPENDING_DAYS = 7

export type Runway = {
  /** wei that a day costs, by what was spent lately */
  readonly daily: bigint
  /** How long what is available lasts; undefined when nothing is spent. */
  readonly days: number | undefined
}

/**
 * How long `available` wei last at the pace of the last week. Spending that began less than a day ago
 * counts as a day's, so the first operations of an app do not look like an avalanche.
 */
export function runwayOf(available: bigint, { spent, days }: RecentSpending): Runway {
  const span = Math.min(Math.max(days, 1), SPENDING_DAYS)
  const daily = (spent * 1_000n) / BigInt(Math.round(span * 1_000))
  if (daily === 0n) return { daily, days: undefined }
  const left = available > 0n ? available : 0n
  return { daily, days: Number((left * 100n) / daily) / 100 }
}

/** When an alarm goes off; 0 = never for that reason. */
export type AlarmTerms = {
  /** wei */
  readonly wei: bigint
  readonly days: number
}

export function isLow(available: bigint, { days }: Runway, terms: AlarmTerms): boolean {
  return available < terms.wei || (days !== undefined && days < terms.days)
}

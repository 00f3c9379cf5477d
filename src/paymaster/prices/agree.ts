import type { PriceOrReason } from './round.js'

/** The conditions under which prices of several sources become one. */
type Agreement = {
  /** The number of sources that must answer. */
  readonly minimumSources: number
  /** Millionths by which the highest may exceed the lowest. */
  readonly maxDeviation: number
}

const MILLION = 1_000_000n

/**
 * The median of the sources' prices; of an even number the higher of the middle two, so that
 * nothing is sold below a price that half of the sources name. A reason instead when too few
 * answer, or when they disagree: then at least one is wrong, and it is unknown which.
 */
export function agree(
  answers: readonly PriceOrReason[],
  { minimumSources, maxDeviation }: Agreement,
): PriceOrReason {
  const prices = answers
    .flatMap(({ price }) => (price === undefined ? [] : [price]))
    .sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const [lowest] = prices
  const highest = prices.at(-1)
  if (lowest === undefined || highest === undefined || prices.length < minimumSources) {
    const reasons = answers.flatMap(({ reason }) => reason ?? [])
    const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
    return { reason: `${prices.length} of ${minimumSources} price sources answer${why}` }
  }
  if (highest * MILLION > lowest * (MILLION + BigInt(maxDeviation)))
    return { reason: `price sources disagree: from ${lowest} to ${highest} (18 decimals)` }
  return { price: prices[Math.floor(prices.length / 2)] ?? highest }
}

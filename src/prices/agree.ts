import type { PriceOrReason } from './round.js'

/** How prices of several sources become one. */
export type Agreement = {
  /** How many sources must answer. */
  readonly minimumSources: number
  /** Millionths by which the highest may exceed the lowest. */
  readonly maxDeviation: number
}

const MILLION = 1_000_000n

/**
 * The median of what sources said, of an even number the higher of the middle two, so that nothing is
 * sold below a price that half of them name. A reason instead when too few answer, or when they
 * disagree: then one of them is wrong, and nobody knows which.
 */
export function agree(
  said: readonly PriceOrReason[],
  { minimumSources, maxDeviation }: Agreement,
): PriceOrReason {
  const prices = said
    .flatMap(({ price }) => (price === undefined ? [] : [price]))
    .sort((one, other) => (one < other ? -1 : one > other ? 1 : 0))
  const [lowest] = prices
  const highest = prices.at(-1)
  if (lowest === undefined || highest === undefined || prices.length < minimumSources) {
    const reasons = said.flatMap(({ reason }) => reason ?? [])
    const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
    return { reason: `${prices.length} of ${minimumSources} price sources answer${why}` }
  }
  if (highest * MILLION > lowest * (MILLION + BigInt(maxDeviation)))
    return { reason: `price sources disagree: from ${lowest} to ${highest} (18 decimals)` }
  return { price: prices[Math.floor(prices.length / 2)] ?? highest }
}

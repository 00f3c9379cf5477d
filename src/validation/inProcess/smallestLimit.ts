/** A search for the smallest limit that suffices, in gas. */
export type LimitSearch = {
  /** A limit that does not suffice. */
  readonly floor: bigint
  /** A limit that suffices. */
  readonly ceiling: bigint
  /** A limit that is likely the smallest, or close to it. */
  readonly guess: bigint
  /** How far the answer may lie above the smallest limit. */
  readonly tolerance: bigint
  /** The answer when it suffices and the search would end above it. */
  readonly own?: bigint | undefined
}

/**
 * A limit that suffices, at most `tolerance` above the smallest one. Trials begin at the guess and move
 * away from it in doubling steps until the smallest is enclosed, then halve the interval: a good guess
 * costs two trials.
 */
export async function smallestLimit(
  { floor, ceiling, guess, tolerance, own = ceiling }: LimitSearch,
  suffices: (limit: bigint) => Promise<boolean>,
): Promise<bigint> {
  let [low, high, step] = [floor, ceiling, tolerance]
  let next = guess
  let enclosed = false
  while (high - low > tolerance) {
    const limit = !enclosed && next > low && next < high ? next : (low + high) / 2n
    const isEnough = await suffices(limit)
    if (isEnough) high = limit
    else low = limit
    enclosed ||= high < ceiling && low > floor
    next = isEnough ? limit - step : limit + step
    step *= 2n
  }
  return own > low && own < high && (await suffices(own)) ? own : high
}

export type LimitSearch = {
  /** Does not do. */
  readonly floor: bigint
  /** Does. */
  readonly ceiling: bigint
  /** Likely to be the smallest, or close to it. */
  readonly guess: bigint
  /** How far above the smallest the answer may lie. */
  readonly tolerance: bigint
}

/**
 * A limit that does, at most `tolerance` above the smallest that does. Trials begin at the guess and go
 * away from it in doubling steps until the smallest is enclosed, then halve what is left: a good guess
 * costs two of them.
 */
export async function smallestLimit(
  { floor, ceiling, guess, tolerance }: LimitSearch,
  does: (limit: bigint) => Promise<boolean>,
): Promise<bigint> {
  let [low, high, step] = [floor, ceiling, tolerance]
  let next = guess
  let enclosed = false
  while (high - low > tolerance) {
    const limit = !enclosed && next > low && next < high ? next : (low + high) / 2n
    const found = await does(limit)
    if (found) high = limit
    else low = limit
    enclosed ||= high < ceiling && low > floor
    next = found ? limit - step : limit + step
    step *= 2n
  }
  return high
}

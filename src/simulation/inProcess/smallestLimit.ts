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
 * The limits to try, one after the other: each is answered by whether it suffices. Returns a limit that
 * suffices, at most `tolerance` above the smallest one. Trials begin at the guess and move
 * away from it in doubling steps until the smallest is enclosed, then halve the interval: a good guess
 * costs two trials.
 */
function* limitsToTry({
  floor,
  ceiling,
  guess,
  tolerance,
  own = ceiling,
}: LimitSearch): Generator<bigint, bigint, boolean> {
  let [low, high, step] = [floor, ceiling, tolerance]
  let next = guess
  let enclosed = false
  while (high - low > tolerance) {
    const limit = !enclosed && next > low && next < high ? next : (low + high) / 2n
    const isEnough = yield limit
    if (isEnough) high = limit
    else low = limit
    enclosed ||= high < ceiling && low > floor
    next = isEnough ? limit - step : limit + step
    step *= 2n
  }
  return own > low && own < high && (yield own) ? own : high
}

/** The limit that the search finds, see `limitsToTry`. */
export function smallestLimit(search: LimitSearch, suffices: (limit: bigint) => boolean): bigint {
  const limits = limitsToTry(search)
  let step = limits.next()
  while (step.done !== true) step = limits.next(suffices(step.value))
  return step.value
}

/** The same, where an answer takes time. */
export async function smallestLimitLater(
  search: LimitSearch,
  suffices: (limit: bigint) => Promise<boolean>,
): Promise<bigint> {
  const limits = limitsToTry(search)
  let step = limits.next()
  while (step.done !== true) step = limits.next(await suffices(step.value))
  return step.value
}

/** The rest of an endpoint, or of one of its methods, after it failed: it is not called until the end. */
export type Rest = {
  /** Failures in a row, of which those during a rest count once. */
  readonly failures: number
  /** By `performance.now()`, which nobody sets. */
  readonly until: number
}

export const awake: Rest = { failures: 0, until: 0 }

const FIRST_REST = 1_000
const LONGEST_REST = 60_000

/**
 * The rest after a failure at `now`: one second, doubled for each failure before it up to a minute, and
 * half as much more or less by `chance` (0 to 1), so that not all clients of a node return at once.
 */
export function restAfter(rest: Rest, now: number, chance: number): Rest {
  if (now < rest.until) return rest
  const pause = Math.min(LONGEST_REST, FIRST_REST * 2 ** Math.min(rest.failures, 30))
  return { failures: rest.failures + 1, until: now + pause * (0.5 + chance) }
}

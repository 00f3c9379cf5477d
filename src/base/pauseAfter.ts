/** The pause of an endpoint, or of one of its methods, after it failed: it is not called until the end. */
export type Pause = {
  /** Failures in a row, of which those during a pause count once. */
  readonly failures: number
  /** By `performance.now()`, which nobody sets. */
  readonly until: number
}

export const unpaused: Pause = { failures: 0, until: 0 }

const FIRST_PAUSE = 1_000
const LONGEST_PAUSE = 60_000

/**
 * The pause after a failure at `now`: one second, doubled for each failure before it up to a minute, and
 * half as much more or less by `chance` (0 to 1), so that not all clients of a node return at once.
 */
export function pauseAfter(pause: Pause, now: number, chance: number): Pause {
  if (now < pause.until) return pause
  const length = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(pause.failures, 30))
  return { failures: pause.failures + 1, until: now + length * (0.5 + chance) }
}

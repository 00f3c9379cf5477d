const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * The milliseconds before each attempt to deliver an event, by the schedule that Standard Webhooks
 * recommends: ten attempts over about three days.
 */
export const retrySchedule: readonly number[] = [
  0,
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR),
]

/** The longest wait that a receiver may ask for. */
const LONGEST = 24 * HOUR

/**
 * The milliseconds until the next attempt after `attempts` attempts; undefined = that was the last.
 * Spread by a tenth to both sides, so that deliveries which failed together do not return together.
 * @param retryAfter the seconds that the receiver asked for
 * @param random in [0, 1)
 */
export function nextAttempt(
  attempts: number,
  retryAfter: number | undefined,
  random: number,
  schedule = retrySchedule,
): number | undefined {
  const base = schedule[attempts]
  if (base === undefined) return undefined
  const spread = base * (0.9 + 0.2 * random)
  return Math.min(LONGEST, Math.max(spread, (retryAfter ?? 0) * SECOND))
}

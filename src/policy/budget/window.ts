import type { Window } from '../policy.js'

/** The buckets of a window, each named by its beginning in Unix seconds. */
export type Buckets = {
  /** The bucket that a reservation of now is counted in. */
  readonly current: number
  /** The oldest bucket that still counts. */
  readonly oldest: number
}

/** A rolling window moves in steps of this part of itself. */
const ROLLING_STEPS = 60

/**
 * The buckets of a window at `at` (Unix seconds). An aligned window is one bucket. A rolling window
 * is many small ones, and a bucket that is partly within the window counts whole: so never more
 * than the limit is spent in any span of that length, and sometimes a little less.
 */
export function bucketsAt(window: Window, at: number): Buckets {
  if (typeof window === 'object') {
    const size = Math.ceil(window.rollingSeconds / ROLLING_STEPS)
    const current = floorTo(at, size)
    return { current, oldest: floorTo(at - window.rollingSeconds, size) }
  }
  const current = beginOf(window, at)
  return { current, oldest: current }
}

const HOUR = 3_600
const DAY = 24 * HOUR

/** 1 January 1970 was a Thursday. */
const FIRST_MONDAY = 4 * DAY

function beginOf(window: Exclude<Window, object>, at: number): number {
  switch (window) {
    case 'never':
      return 0
    case 'hour':
      return floorTo(at, HOUR)
    case 'day':
      return floorTo(at, DAY)
    case 'week':
      return FIRST_MONDAY + floorTo(at - FIRST_MONDAY, 7 * DAY)
    case 'month': {
      const date = new Date(at * 1000)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000
    }
  }
}

/** The end of the bucket that began at `begin` (Unix seconds); undefined where a window never ends or moves. */
export function endOf(window: Window, begin: number): number | undefined {
  if (typeof window === 'object') return undefined
  switch (window) {
    case 'never':
      return undefined
    case 'hour':
      return begin + HOUR
    case 'day':
      return begin + DAY
    case 'week':
      return begin + 7 * DAY
    case 'month': {
      const date = new Date(begin * 1000)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1000
    }
  }
}

function floorTo(value: number, step: number): number {
  return Math.floor(value / step) * step
}

/** The name of a window in the keys of budgets and in messages. */
export function windowName(window: Window): string {
  return typeof window === 'object' ? `rolling-${window.rollingSeconds}s` : window
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RUNS_IN_FULL } from '../../test/support/runs.js'
import { LARGEST_SIZE, reachedSize, TRAFFIC_WINDOW } from './bundleSizes.js'

const HOUR = 3_600_000
const FIXED_GAS = 32_000
const WAIT = 10_000

/** Numbers from 0 to 1 that follow from the seed alone. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

type Phase = { readonly hours: number; readonly perSecond: number }

/** A day: a quiet night, a morning, a burst of half an hour, a busy afternoon that ends at once, an evening. */
const day: readonly Phase[] = [
  { hours: 7, perSecond: 0.02 },
  { hours: 3, perSecond: 2 },
  { hours: 0.5, perSecond: 25 },
  { hours: 2, perSecond: 0.3 },
  { hours: 6, perSecond: 6 },
  { hours: 1, perSecond: 0 },
  { hours: 4.5, perSecond: 1 },
]

function arrivalsOf(phases: readonly Phase[], random: () => number): number[] {
  const arrivals: number[] = []
  let begin = 0
  // A share of the runs has a day of six hours.
  const hour = RUNS_IN_FULL ? HOUR : HOUR / 4
  for (const { hours, perSecond } of phases) {
    const end = begin + hours * hour
    if (perSecond > 0)
      for (let at = begin; at < end; ) {
        at += (-Math.log(1 - random()) / perSecond) * 1_000
        if (at < end) arrivals.push(at)
      }
    begin = end
  }
  return arrivals
}

type Waiting = { readonly at: number; readonly size: number }

/** What became of a day's operations; shares are parts of a bundle's fixed gas. */
type Outcome = {
  operations: number
  /** Gas that operations paid of fixed costs, and that they truly owed. */
  paid: number
  owed: number
  /** Operations that waited without success and had to be priced again. */
  repriced: number
  /** Milliseconds until an operation was sent or priced again. */
  waits: number[]
  /** The gas of the one bundle that was paid least of what it costs; never negative. */
  leastSurplus: number
}

/**
 * A bundler over a day: at each turn it sends what is pooled when the shares of it pay for a bundle, and gives an
 * operation up that has waited for `WAIT` without success, as `planBid` does. Estimates use a size of five seconds
 * ago at worst, and operations come a few seconds after their estimate.
 */
function simulate(
  arrivals: readonly number[],
  blockTime: number,
  sizeOf: (known: readonly number[], now: number) => number,
): Outcome {
  const outcome: Outcome = {
    operations: arrivals.length,
    paid: 0,
    owed: 0,
    repriced: 0,
    waits: [],
    leastSurplus: Number.POSITIVE_INFINITY,
  }
  const last = arrivals.at(-1) ?? 0
  const published: number[] = []
  const known: number[] = []
  let forgotten = 0
  let pool: Waiting[] = []
  let next = 0
  for (let now = 0; now <= last + 2 * WAIT; now += blockTime) {
    const tick = Math.floor(now / 5_000)
    while (published.length <= tick) {
      while ((known[forgotten] ?? now) <= now - TRAFFIC_WINDOW) forgotten += 1
      published.push(sizeOf(known.slice(forgotten), now))
    }
    for (; next < arrivals.length && (arrivals[next] ?? 0) <= now; next++) {
      const at = arrivals[next] ?? 0
      // Signed up to five seconds after the estimate.
      pool.push({ at, size: published[Math.max(0, Math.floor((at - 5_000) / 5_000))] ?? 1 })
    }
    const paid = pool.reduce((sum, { size }) => sum + FIXED_GAS / size, 0)
    if (pool.length > 0 && paid >= FIXED_GAS - 1e-6) {
      outcome.paid += paid
      outcome.owed += FIXED_GAS
      outcome.leastSurplus = Math.min(outcome.leastSurplus, paid - FIXED_GAS)
      outcome.waits.push(...pool.map(({ at }) => now - at))
      known.push(...pool.map(({ at }) => at))
      pool = []
    }
    const overdue = pool.filter(({ at }) => now - at >= WAIT)
    outcome.repriced += overdue.length
    outcome.waits.push(...overdue.map(({ at }) => now - at))
    pool = pool.filter(({ at }) => now - at < WAIT)
  }
  expect(outcome.waits).toHaveLength(arrivals.length)
  return outcome
}

function figuresOf({ operations, paid, owed, repriced, waits }: Outcome) {
  const sorted = [...waits].sort((one, other) => one - other)
  const at = (part: number) => sorted[Math.floor(part * (sorted.length - 1))] ?? 0
  return {
    operations,
    gasPaid: Math.round(paid / operations),
    gasOwed: Math.round(owed / operations),
    repriced,
    medianWait: Math.round(at(0.5)),
    wait99: Math.round(at(0.99)),
    longestWait: Math.round(at(1)),
  }
}

test.each([
  [2_000, { mostPaid: 20_000, mostRepriced: 30 }],
  [12_000, { mostPaid: 20_000, mostRepriced: 30 }],
])(
  'a day on a chain with a block each %i ms',
  (blockTime, { mostPaid, mostRepriced }) => {
    const arrivals = arrivalsOf(day, generator(7))
    const alone = simulate(arrivals, blockTime, () => 1)
    const auto = simulate(arrivals, blockTime, (known, now) =>
      reachedSize({ arrivals: known, since: 0, blockTime }, now, WAIT),
    )
    const [before, after] = [figuresOf(alone), figuresOf(auto)]
    expect(before.gasPaid).toBe(FIXED_GAS)
    expect(after.gasPaid, JSON.stringify({ before, after })).toBeLessThan(mostPaid)
    expect(auto.leastSurplus).toBeGreaterThanOrEqual(-1e-6)
    expect(after.longestWait).toBeLessThanOrEqual(WAIT + blockTime)
    expect(after.medianWait).toBeLessThanOrEqual(before.medianWait + blockTime / 4)
    expect(after.repriced).toBeLessThanOrEqual(mostRepriced)
  },
  60_000,
)

test('is 1 for little or unknown traffic, and at once after it ends', () => {
  const steady = Array.from({ length: 60_000 }, (_, at) => at * 10)
  const at = (now: number) =>
    reachedSize({ arrivals: steady, since: 0, blockTime: 2_000 }, now, WAIT)
  expect(at(200_000)).toBe(1)
  expect(at(600_000)).toBe(LARGEST_SIZE)
  expect(at(631_000)).toBe(1)
  expect(reachedSize({ arrivals: [], since: 0, blockTime: 2_000 }, 700_000, WAIT)).toBe(1)
  expect(reachedSize({ arrivals: steady, since: 0, blockTime: 2_000 }, 600_000, 0)).toBe(1)
})

test('is never more than nearly all turns of the last ten minutes had, whatever came', () => {
  const traffic = fc.record({
    perTurn: fc.array(fc.integer({ min: 0, max: 40 }), { minLength: 300, maxLength: 300 }),
    blockTime: fc.constantFrom(250, 1_000, 2_000),
  })
  fc.assert(
    fc.property(traffic, ({ perTurn, blockTime }) => {
      const now = TRAFFIC_WINDOW
      const turns = TRAFFIC_WINDOW / blockTime
      const arrivals = Array.from({ length: turns }, (_, turn) =>
        new Array<number>(perTurn[turn % 300] ?? 0).fill(now - (turn + 0.5) * blockTime),
      ).flat()
      const size = reachedSize({ arrivals, since: 0, blockTime }, now, WAIT)
      const missed = Array.from({ length: turns }, (_, turn) => perTurn[turn % 300] ?? 0).filter(
        (count) => count < size,
      )
      expect(size === 1 || missed.length <= turns * 0.05).toBe(true)
    }),
    { numRuns: 30 },
  )
})

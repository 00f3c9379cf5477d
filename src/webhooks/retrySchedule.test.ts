import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextAttempt, retrySchedule } from './retrySchedule.js'

test('ten attempts over some three days, then none', () => {
  expect(retrySchedule).toHaveLength(10)
  const total = retrySchedule.reduce((sum, each) => sum + each, 0)
  expect(total / 3_600_000).toBeGreaterThan(72)
  expect(nextAttempt(1, undefined, 0.5)).toBe(5_000)
  expect(nextAttempt(10, undefined, 0.5)).toBeUndefined()
  expect(nextAttempt(10, 5, 0.5)).toBeUndefined()
})

test('each wait is the schedule’s, a tenth more or less, and what the receiver asks for', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 9 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.option(fc.nat(200_000), { nil: undefined }),
      (attempts, random, retryAfter) => {
        const wait = nextAttempt(attempts, retryAfter, random) ?? 0
        const base = retrySchedule[attempts] ?? 0
        expect(wait).toBeGreaterThanOrEqual(
          Math.min(24 * 3_600_000, Math.max(base * 0.9, (retryAfter ?? 0) * 1_000)) - 1,
        )
        expect(wait).toBeLessThanOrEqual(24 * 3_600_000)
      },
    ),
  )
})

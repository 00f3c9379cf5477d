import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bucketsAt } from './budget.js'

function at(text: string) {
  return Date.parse(text) / 1000
}

test.each([
  ['hour', '2026-11-21T08:59:59Z', '2026-11-21T08:00:00Z'],
  ['day', '2026-11-21T23:59:59Z', '2026-11-21T00:00:00Z'],
  ['week', '2026-11-22T23:59:59Z', '2026-11-16T00:00:00Z'],
  ['week', '2026-11-23T00:00:00Z', '2026-11-23T00:00:00Z'],
  ['month', '2026-11-30T23:59:59Z', '2026-11-01T00:00:00Z'],
  ['month', '2028-02-29T12:00:00Z', '2028-02-01T00:00:00Z'],
] as const)('%s of %s begins at %s', (window, now, begin) => {
  expect(bucketsAt(window, at(now))).toEqual({ current: at(begin), oldest: at(begin) })
})

test('never is one bucket for all time', () => {
  expect(bucketsAt('never', at('2026-11-21T08:59:59Z'))).toEqual({ current: 0, oldest: 0 })
})

test('a rolling window reaches back over its whole length, and one step at most beyond', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 60, max: 2_678_400 }),
      fc.integer({ min: 1_700_000_000, max: 2_000_000_000 }),
      (rollingSeconds, now) => {
        const { current, oldest } = bucketsAt({ rollingSeconds }, now)
        const step = Math.ceil(rollingSeconds / 60)
        expect(current).toBeLessThanOrEqual(now)
        expect(current).toBeGreaterThan(now - step)
        expect(oldest).toBeLessThanOrEqual(now - rollingSeconds)
        expect(oldest).toBeGreaterThan(now - rollingSeconds - step)
        expect((current - oldest) % step).toBe(0)
      },
    ),
  )
})

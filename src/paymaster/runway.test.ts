import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isLow, runwayOf } from './runway.js'

test('what is available lasts as long as the pace of the last week allows', () => {
  expect(runwayOf(700n, { spent: 700n, days: 7 })).toEqual({ daily: 100n, days: 7 })
  expect(runwayOf(50n, { spent: 700n, days: 7 })).toEqual({ daily: 100n, days: 0.5 })
})

test('what began a moment ago counts as a day’s spending', () => {
  expect(runwayOf(100n, { spent: 10n, days: 0.001 })).toEqual({ daily: 10n, days: 10 })
})

test('nothing spent has no end, and nothing left lasts no day', () => {
  expect(runwayOf(0n, { spent: 0n, days: 0 })).toEqual({ daily: 0n, days: undefined })
  expect(runwayOf(-5n, { spent: 10n, days: 1 }).days).toBe(0)
})

test('more money never lasts shorter', () => {
  const wei = fc.bigInt({ min: 0n, max: 10n ** 24n })
  fc.assert(
    fc.property(
      wei,
      wei,
      wei,
      fc.double({ min: 0, max: 7, noNaN: true }),
      (a, more, spent, days) => {
        const [less, longer] = [a, a + more].map((wei) => runwayOf(wei, { spent, days }).days ?? 0)
        expect(longer).toBeGreaterThanOrEqual(less ?? 0)
      },
    ),
  )
})

test('an alert goes off below its amount or its days, and 0 means never', () => {
  const runway = { daily: 10n, days: 5 }
  expect(isLow(49n, runway, { wei: 50n, days: 0 })).toBe(true)
  expect(isLow(50n, runway, { wei: 50n, days: 5 })).toBe(false)
  expect(isLow(50n, runway, { wei: 0n, days: 6 })).toBe(true)
  expect(isLow(0n, { daily: 0n, days: undefined }, { wei: 0n, days: 6 })).toBe(false)
})

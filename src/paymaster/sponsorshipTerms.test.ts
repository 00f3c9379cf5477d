import { expect, test } from 'vitest'
import { InvalidParamsError } from '../base/errors/requestErrors.js'
import { defaultTerms, durationOf, timeRange } from './sponsorshipTerms.js'

test('a duration within the bounds is taken, 300 s when none is asked for', () => {
  expect(durationOf(undefined, defaultTerms)).toBe(300)
  expect(durationOf(60, defaultTerms)).toBe(60)
  expect(durationOf(900, defaultTerms)).toBe(900)
})

test('the default keeps to bounds that are configured narrower', () => {
  expect(durationOf(undefined, { ...defaultTerms, maxDuration: 120 })).toBe(120)
  expect(durationOf(undefined, { ...defaultTerms, minDuration: 600 })).toBe(600)
})

test.each([3_601, 6_000, 1e9])('a duration of %d s is cut to the longest', (asked) => {
  expect(durationOf(asked, defaultTerms)).toBe(900)
})

test.each([59, 0, -300, 300.5, Number.NaN, Number.POSITIVE_INFINITY])(
  'a duration of %d s is refused with the bound',
  (asked) => {
    expect(() => durationOf(asked, defaultTerms)).toThrow(InvalidParamsError)
    expect(() => durationOf(asked, defaultTerms)).toThrow(/at least 60/)
  },
)

test('the range ends by whichever clock is later, and begins at once by both', () => {
  expect(timeRange(1_000, 5_000, 300)).toEqual({ validAfter: 0, validUntil: 5_300 })
  expect(timeRange(9_000, 5_000, 300)).toEqual({ validAfter: 0, validUntil: 9_300 })
})

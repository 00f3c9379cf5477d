import fc from 'fast-check'
import { expect, test } from 'vitest'
import { agree } from './agree.js'

const terms = { minimumSources: 1, maxDeviation: 20_000 }
const some = fc.array(fc.bigInt({ min: 10n ** 20n, max: 10n ** 28n }), {
  minLength: 1,
  maxLength: 9,
})
const any = { minimumSources: 1, maxDeviation: Number.MAX_SAFE_INTEGER }
function said(prices: readonly bigint[]) {
  return prices.map((price) => ({ price }))
}

test('of an odd number of sources the middle one counts, whatever their order', () => {
  expect(agree(said([1_010n, 1_000n, 1_005n]), terms)).toEqual({ price: 1_005n })
})

test('of two sources the higher one counts: tokens per coin are not undersold', () => {
  expect(agree(said([1_010n, 1_000n]), terms)).toEqual({ price: 1_010n })
})

test('sources may differ by the deviation, and by no more', () => {
  expect(agree(said([1_000_000n, 1_020_000n]), terms).price).toBe(1_020_000n)
  expect(agree(said([1_000_000n, 1_020_001n]), terms).reason).toContain('disagree')
})

test('a source that lies stops the quotes, even against a majority', () => {
  expect(agree(said([1_000n, 1_000n, 1n]), terms).reason).toContain('disagree')
})

test('too few answers are none, with the reasons of those that failed', () => {
  const answers = [{ price: 1n }, { reason: 'feed 0x1 is 9 s old' }]
  expect(agree(answers, { ...terms, minimumSources: 2 }).reason).toBe(
    '1 of 2 price sources answer: feed 0x1 is 9 s old',
  )
  expect(agree([], terms).reason).toBe('0 of 1 price sources answer')
})

test('the agreed price is one that a source named, and at least half name no higher one', () => {
  fc.assert(
    fc.property(some, (prices) => {
      const { price = 0n } = agree(said(prices), any)
      expect(prices).toContain(price)
      expect(prices.filter((each) => each <= price).length * 2).toBeGreaterThan(prices.length)
      expect(prices.filter((each) => each >= price).length * 2).toBeGreaterThanOrEqual(
        prices.length - 1,
      )
    }),
  )
})

test('the order of sources does not matter', () => {
  fc.assert(
    fc.property(some, (prices) => {
      expect(agree(said([...prices].reverse()), terms)).toEqual(agree(said(prices), terms))
    }),
  )
})

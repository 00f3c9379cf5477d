import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFixed18 } from '../../base/parseFixed18.js'
import { ONE, perNativeOf, rateOf, toFixed18 } from './perNative.js'

const price = fc.bigInt({ min: 1n, max: 10n ** 30n })
const decimals = fc.integer({ min: 0, max: 36 })

test('3000 USD per coin and 1 USD per token of 6 decimals are 3,000,000,000 units per coin', () => {
  const perNative = perNativeOf(3_000n * ONE, ONE)
  expect(perNative).toBe(3_000n * ONE)
  expect(rateOf(perNative, 6)).toBe(3_000_000_000n)
})

test('a price in 8 decimals is the same one in 18', () => {
  expect(toFixed18(300_000_000_000n, 8)).toBe(3_000n * ONE)
  expect(() => toFixed18(-1n, 8)).toThrow(RangeError)
})

test('a rate never sells below the price, and is not one unit above it', () => {
  fc.assert(
    fc.property(price, decimals, (perNative, places) => {
      const rate = rateOf(perNative, places)
      const exact = perNative * 10n ** BigInt(places)
      expect(rate * ONE >= exact).toBe(true)
      expect((rate - 1n) * ONE < exact).toBe(true)
    }),
  )
})

test('a ratio times its divisor is the dividend, or just above it', () => {
  fc.assert(
    fc.property(price, price, (native, token) => {
      const ratio = perNativeOf(native, token)
      expect(ratio * token >= native * ONE).toBe(true)
      expect((ratio - 1n) * token < native * ONE).toBe(true)
    }),
  )
})

test('what is scaled up is scaled back without loss', () => {
  fc.assert(
    fc.property(price, fc.integer({ min: 0, max: 18 }), (value, places) => {
      expect(toFixed18(value, places) / 10n ** BigInt(18 - places)).toBe(value)
    }),
  )
})

test('any decimal number is read to the digit', () => {
  const whole = fc.bigInt({ min: 0n, max: 10n ** 30n - 1n })
  const fraction = fc.stringMatching(/^\d{1,18}$/)
  fc.assert(
    fc.property(whole, fraction, (units, digits) => {
      const value = units * ONE + BigInt(digits.padEnd(18, '0'))
      expect(parseFixed18(`${units}.${digits}`)).toBe(value === 0n ? undefined : value)
    }),
  )
})

test.each(['', '0', '0.0', '-1', '1e3', '.5', '1.', '1.0000000000000000001', ' 1', 'NaN'])(
  'refuses %j as a price',
  (text) => expect(parseFixed18(text)).toBeUndefined(),
)

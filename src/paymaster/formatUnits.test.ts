import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toFloatUp } from './formatUnits.js'

test('a float of units is never too little for the client that multiplies it out', () => {
  const units = fc.bigInt({ min: 0n, max: 10n ** 30n })
  fc.assert(
    fc.property(units, fc.integer({ min: 0, max: 18 }), (given, decimals) => {
      const approved = BigInt(Math.ceil(toFloatUp(given, decimals) * 10 ** decimals))
      expect(approved).toBeGreaterThanOrEqual(given)
      expect(approved - given).toBeLessThanOrEqual(given / 10n ** 14n + 1n)
    }),
  )
})

test('what a float can say is said exactly', () => {
  expect(toFloatUp(1_250_000n, 6)).toBe(1.25)
  expect(toFloatUp(1n, 6)).toBe(0.000001)
  expect(toFloatUp(0n, 6)).toBe(0)
})

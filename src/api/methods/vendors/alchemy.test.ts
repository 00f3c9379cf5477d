import { expect, test } from 'vitest'
import { InvalidParamsError } from '../../../base/errors/requestErrors.js'
import { decodeOverrides, multiplied } from './alchemy.js'

test('quantities and multipliers are distinguished, and fields that nobody may set stay out', () => {
  const overrides = { callGasLimit: '0x1', maxFeePerGas: { multiplier: 1.05 }, nonce: '0x2' }
  expect(decodeOverrides(overrides, 'field')).toEqual({
    absolute: { callGasLimit: '0x1' },
    multipliers: { maxFeePerGas: 1_050_000n },
  })
})

test('a product is rounded up', () => {
  expect(multiplied(1n, 1_050_000n)).toBe(2n)
  expect(multiplied(100n, 1_050_000n)).toBe(105n)
  expect(multiplied(7n, undefined)).toBe(7n)
})

test.each([0, -1, 11, Number.NaN, '1.5', null])('a multiplier of %s is refused', (multiplier) => {
  const overrides = { maxFeePerGas: { multiplier } }
  expect(() => decodeOverrides(overrides, 'field')).toThrow(InvalidParamsError)
})

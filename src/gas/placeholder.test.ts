import { expect, test } from 'vitest'
import { fromHex } from '../evm/index.js'
import { fastLzLength } from './opStackFees.js'
import { arbitrumSize } from './otherStackFees.js'
import { placeholder, placeholderOfWidth } from './placeholder.js'

test('has no zero byte, does not compress, and is the same each time', () => {
  for (const length of [65, 130, 1_000, 8_192]) {
    const bytes = fromHex(placeholder(length, length))
    expect(bytes.length).toBe(length)
    expect(bytes.includes(0)).toBe(false)
    expect(fastLzLength(bytes)).toBeGreaterThanOrEqual(length)
    expect(arbitrumSize(bytes)).toBeGreaterThanOrEqual(length)
    expect(placeholder(length, length)).toBe(placeholder(length, length))
  }
  expect(placeholder(65, 1)).not.toBe(placeholder(65, 2))
  expect(placeholder(0, 1)).toBe('0x')
})

test('a number keeps its width', () => {
  for (const value of [0n, 1n, 255n, 256n, 10n ** 9n, 2n ** 128n - 1n]) {
    const width = (of: bigint) => (of === 0n ? 0 : Math.ceil(of.toString(16).length / 2))
    expect(width(placeholderOfWidth(value, 7))).toBe(width(value))
  }
})

import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { withHeadroom } from './estimateOperation.js'

const CEILING = 5_000_000n

function signatureOf(bytes: number): Hex {
  return `0x${'5a'.repeat(bytes)}`
}

describe('the verificationGasLimit for a real signature', () => {
  test.each([
    [0n, 10_000n],
    [40_000n, 50_000n],
    [66_666n, 76_666n],
    [100_000n, 115_000n],
    [4_900_000n, CEILING],
    [CEILING, CEILING],
  ])('where a dummy of one signer needed %s is %s', (measured, limit) => {
    expect(withHeadroom(measured, signatureOf(77), CEILING)).toBe(limit)
  })

  test.each([
    [12 + 65, 115_000n],
    [12 + 2 * 65, 123_000n],
    [12 + 3 * 65, 131_000n],
    // At most once more what was measured.
    [8_192, 215_000n],
  ])('where a dummy of %s bytes needed 100,000 is %s', (bytes, limit) => {
    expect(withHeadroom(100_000n, signatureOf(bytes), CEILING)).toBe(limit)
  })
})

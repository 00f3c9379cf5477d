import fc from 'fast-check'
import { type Hex, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { leastVerificationGas06, tokenPostOpGas, tokenVerificationGas } from './tokenGas.js'

const TREASURY = `0x${'7'.repeat(40)}` as const
function bytes(length: number): Hex {
  return `0x${'ab'.repeat(length)}`
}
function opOf(length: number) {
  return {
    factoryData: bytes(0),
    callData: bytes(length),
    signature: bytes(65),
  }
}

describe('gas of a token tank', () => {
  test.each([
    ['prefund', 63_427n],
    ['afterwards', 32_079n],
    ['permit', 115_917n],
  ] as const)('%s: validation follows what was measured', (mode, gas) => {
    expect(tokenVerificationGas(opOf(200), mode, 0n)).toBeGreaterThan((gas * 6n) / 5n)
    expect(tokenVerificationGas(opOf(200), mode, 0n)).toBeLessThan((gas * 3n) / 2n)
  })

  test.each([
    ['prefund', zeroAddress, 11_034n],
    ['prefund', TREASURY, 36_229n],
    ['permit', TREASURY, 36_229n],
    ['afterwards', zeroAddress, 35_156n],
    ['afterwards', TREASURY, 35_156n],
  ] as const)('%s: postOp for %s follows what was measured', (mode, treasury, gas) => {
    expect(tokenPostOpGas({ mode, treasury }, 0n)).toBeGreaterThan((gas * 23n) / 20n)
    expect(tokenPostOpGas({ mode, treasury }, 0n)).toBeLessThan((gas * 3n) / 2n)
  })

  test('grows with the operation and with what the token costs', () =>
    fc.assert(
      fc.property(
        fc.nat({ max: 50_000 }),
        fc.nat({ max: 50_000 }),
        fc.bigInt({ min: 0n, max: 100_000n }),
        fc.constantFrom('prefund' as const, 'afterwards' as const, 'permit' as const),
        (length, more, perCall, mode) => {
          const short = tokenVerificationGas(opOf(length), mode, perCall)
          expect(tokenVerificationGas(opOf(length + more), mode, perCall)).toBeGreaterThanOrEqual(
            short,
          )
          expect(tokenVerificationGas(opOf(length), mode, perCall + 1n)).toBeGreaterThan(short)
          const terms = { mode, treasury: TREASURY }
          expect(tokenPostOpGas(terms, perCall + 1n)).toBeGreaterThan(
            tokenPostOpGas(terms, perCall),
          )
        },
      ),
      { numRuns: 30 },
    ))

  test('v0.6 leaves postOp its gas (EIP-150)', () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 1_000n, max: 2n ** 32n - 1n }), (postOpGas) => {
        const granted = leastVerificationGas06(postOpGas) - 34_000n
        expect((granted * 63n) / 64n).toBeGreaterThanOrEqual(postOpGas)
      }),
    ))
})

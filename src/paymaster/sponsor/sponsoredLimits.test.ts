import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Draft } from '../../erc4337/draft.js'
import { type GasEstimate, withHeadroom } from '../../gas/estimateOperation.js'
import { givenLimits, limitsToSign } from './sponsoredLimits.js'

const gas = fc.bigInt({ min: 1n, max: 2n ** 64n })
const limits = fc.record({
  callGasLimit: gas,
  verificationGasLimit: gas,
  preVerificationGas: gas,
  paymasterVerificationGasLimit: gas,
})
function withGas(given: object) {
  return given as Draft & GasEstimate
}

describe('givenLimits', () => {
  test('are the three of the client when they are not to be calculated', () => {
    fc.assert(
      fc.property(limits, (given) => {
        expect(givenLimits(withGas(given), false)).toEqual(given)
        expect(givenLimits(withGas(given), true)).toBeUndefined()
      }),
    )
  })

  test.each(['callGasLimit', 'verificationGasLimit', 'preVerificationGas'])(
    'are none when %s is missing or 0',
    (field) => {
      const given = { callGasLimit: 1n, verificationGasLimit: 1n, preVerificationGas: 1n }
      expect(givenLimits(withGas({ ...given, [field]: undefined }), false)).toBeUndefined()
      expect(givenLimits(withGas({ ...given, [field]: 0n }), false)).toBeUndefined()
    },
  )
})

const raised = [
  'callGasLimit',
  'verificationGasLimit',
  'preVerificationGas',
  'paymasterVerificationGasLimit',
] as const

describe('limitsToSign', () => {
  test('are the estimate when nothing is given', () => {
    fc.assert(
      fc.property(limits, (estimate) => {
        expect(limitsToSign(undefined, withGas(estimate))).toEqual(estimate)
      }),
    )
  })

  test('keep what the client has set, and are never too low by the estimate', () => {
    fc.assert(
      fc.property(limits, limits, (own, estimate) => {
        const signed = limitsToSign(own, withGas(estimate))
        for (const field of raised) {
          expect([own[field], estimate[field]]).toContain(signed[field])
          expect(signed[field]).toBeGreaterThanOrEqual(own[field])
          expect(signed[field]).toBeGreaterThanOrEqual(
            estimate[field] - differenceOf(field, estimate[field]),
          )
        }
      }),
    )
  })

  test('keep verification limits that another search found a little lower', () => {
    const least = fc.bigInt({ min: 20_000n, max: 10_000_000n })
    const above = fc.integer({ min: 0, max: 100 })
    fc.assert(
      fc.property(least, above, above, (need, first, second) => {
        const found = (percent: number) => {
          const measured = need + ((need / 64n + 64n) * BigInt(percent)) / 100n
          const verificationGasLimit = withHeadroom(measured, '0x', 2n ** 64n)
          return {
            callGasLimit: 1n,
            preVerificationGas: 1n,
            verificationGasLimit,
            paymasterVerificationGasLimit: 0n,
          }
        }
        const own = found(first)
        const signed = limitsToSign(own, withGas(found(second)))
        expect(signed.verificationGasLimit).toBeGreaterThan(need)
        expect(signed).toEqual(own)
      }),
    )
  })
})

/** How far the estimate may be above what is signed. */
function differenceOf(field: (typeof raised)[number], limit: bigint): bigint {
  const difference = limit / 64n + 128n
  if (field === 'verificationGasLimit') return difference
  if (field !== 'paymasterVerificationGasLimit') return 0n
  return difference < 4_000n ? difference : 4_000n
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Draft } from '../../entrypoint/draft.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'
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

  test('keep what is given, and are never below the estimate', () => {
    fc.assert(
      fc.property(limits, limits, (given, estimate) => {
        const signed = limitsToSign(given, withGas(estimate))
        for (const field of raised) {
          expect([given[field], estimate[field]]).toContain(signed[field])
          expect(signed[field]).toBeGreaterThanOrEqual(given[field])
          expect(signed[field]).toBeGreaterThanOrEqual(estimate[field])
        }
      }),
    )
  })
})

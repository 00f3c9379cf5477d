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
          const difference = differenceOf(field, estimate[field])
          expect(signed[field]).toBeGreaterThanOrEqual(estimate[field] - difference)
        }
      }),
    )
  })

  const need = fc.bigInt({ min: 20_000n, max: 10_000_000n })

  function found(measured: bigint, hasPaymasterLimits: boolean) {
    return withGas({
      callGasLimit: 1n,
      preVerificationGas: 1n,
      verificationGasLimit: withHeadroom(measured, '0x', 2n ** 64n),
      paymasterVerificationGasLimit: hasPaymasterLimits ? 0n : undefined,
    })
  }

  test('keep verification limits that another search found a little lower', () => {
    const above = fc.integer({ min: 0, max: 100 })
    fc.assert(
      fc.property(need, above, above, fc.boolean(), (least, first, second, hasLimits) => {
        const measured = (percent: number) => least + ((least / 64n + 64n) * BigInt(percent)) / 100n
        const own = limitsToSign(undefined, found(measured(first), hasLimits))
        const signed = limitsToSign(own, found(measured(second), hasLimits))
        expect(signed.verificationGasLimit).toBeGreaterThan(least)
        expect(signed).toEqual(own)
      }),
    )
  })

  test('keep a verification limit that covers what was measured, where postOp has its own', () => {
    fc.assert(
      fc.property(need, fc.bigInt({ min: 0n, max: 13n }), (first, percent) => {
        const own = limitsToSign(undefined, found(first, true))
        const more = first + (first * percent) / 100n
        const signed = limitsToSign(own, found(more, true))
        expect(signed).toEqual(own)
        expect(signed.verificationGasLimit).toBeGreaterThanOrEqual(more)
      }),
    )
  })

  test('raise a verification limit that does not', () => {
    fc.assert(
      fc.property(need, fc.boolean(), (measured, hasLimits) => {
        const estimate = found(measured, hasLimits)
        const own = { ...limitsToSign(undefined, estimate), verificationGasLimit: measured - 2n }
        const signed = limitsToSign(own, estimate)
        expect(signed.verificationGasLimit).toBe(estimate.verificationGasLimit)
      }),
    )
  })
})

/** How far the estimate may be above what is signed. */
function differenceOf(field: (typeof raised)[number], limit: bigint): bigint {
  const difference = limit / 64n + 128n
  if (field === 'verificationGasLimit') return limit - (limit * 100n) / 115n
  if (field !== 'paymasterVerificationGasLimit') return 0n
  return difference < 4_000n ? difference : 4_000n
}

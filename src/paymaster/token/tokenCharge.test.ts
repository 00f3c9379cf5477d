import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { operation, uint } from '../../../test/support/tanks/arbitraryOperation.js'
import { quote } from '../../../test/support/tanks/arbitraryQuote.js'
import { canonicalAddresses } from '../../erc4337/canonicalAddresses.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import type { Version } from '../../erc4337/entryPoint.js'
import { maxTokenCharge, maxTokenCost, tokenCharge } from './tokenCharge.js'

const PAYMASTER = `0x${'7'.repeat(40)}` as const

describe('a charge', () => {
  test('is the cost at rate and markup, rounded up to whole units', () => {
    const dollars = { rate: 3_000_000_000n, markup: 1_000_000 }
    expect(tokenCharge(10n ** 18n, dollars)).toBe(3_000_000_000n)
    expect(tokenCharge(1n, dollars)).toBe(1n)
    expect(tokenCharge(10n ** 18n + 1n, dollars)).toBe(3_000_000_001n)
    expect(tokenCharge(10n ** 18n, { ...dollars, markup: 1_070_000 })).toBe(3_210_000_000n)
    expect(tokenCharge(0n, dollars)).toBe(0n)
  })

  test('is worth the cost, and by less than a unit more', () =>
    fc.assert(
      fc.property(uint(120), quote, (wei, terms) => {
        const scaled = wei * terms.rate * BigInt(terms.markup)
        const worth = tokenCharge(wei, terms) * 10n ** 24n
        expect(worth).toBeGreaterThanOrEqual(scaled)
        expect(worth - scaled).toBeLessThan(10n ** 24n)
      }),
    ))

  test('of two costs together is never more than of each', () =>
    fc.assert(
      fc.property(uint(120), uint(120), quote, (one, other, terms) => {
        expect(tokenCharge(one + other, terms)).toBeLessThanOrEqual(
          tokenCharge(one, terms) + tokenCharge(other, terms),
        )
      }),
    ))
})

describe.each<Version>(['0.6', '0.7', '0.8', '0.9'])('the most on v%s', (version) => {
  const entryPoint = createEntryPoint(version, canonicalAddresses[version])

  test('covers every limit at the highest fee', () =>
    fc.assert(
      fc.property(operation, quote, (drawn, terms) => {
        const op = { ...drawn, paymaster: PAYMASTER, paymasterPostOpGasLimit: terms.postOpGas }
        const limits = op.preVerificationGas + op.verificationGasLimit + op.callGasLimit
        const cost = maxTokenCost(op, entryPoint, terms)
        expect(cost).toBeGreaterThanOrEqual((limits + terms.postOpGas) * op.maxFeePerGas)
        expect(maxTokenCharge(op, entryPoint, terms)).toBe(tokenCharge(cost, terms))
      }),
    ))
})

test('the most on v0.6 holds postOp twice where it may run twice', () => {
  const entryPoint = createEntryPoint('0.6', canonicalAddresses['0.6'])
  const [drawn] = fc.sample(operation, { seed: 1, numRuns: 1 })
  const op = { ...drawn!, paymaster: PAYMASTER, maxFeePerGas: 1n }
  const cost = (mode: 'prefund' | 'afterwards') =>
    maxTokenCost(op, entryPoint, { mode, postOpGas: 50_000n })
  expect(cost('afterwards') - cost('prefund')).toBe(54_000n)
})

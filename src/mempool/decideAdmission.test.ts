import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { arbitraryOperation } from '../../test/support/arbitraryOperation.js'
import {
  AlreadyBundledError,
  MempoolFullError,
  PaymasterDepositError,
  ReplacementUnderpricedError,
} from '../errors/operationErrors.js'
import type { Occupancy } from '../store/admissions.js'
import { decideAdmission } from './decideAdmission.js'
import { replacementFees } from './replacement.js'

const limits = { maxOperationsPerSender: 4, maxOperations: 100 }
const other: Hex = `0x${'01'.repeat(32)}`
const paymaster: Address = `0x${'aa'.repeat(20)}`

const empty: Occupancy = {
  known: undefined,
  slot: undefined,
  ofSender: 0,
  total: 0,
  paymasterPending: 0n,
}

const wei = fc.bigInt({ min: 0n, max: 2n ** 200n })
const operation = arbitraryOperation('0.6').map((op) => ({ ...op, paymaster: undefined }))

const refusal = (...given: Parameters<typeof decideAdmission>): unknown => {
  const decision = decideAdmission(...given)
  return decision.kind === 'refuse' ? decision.error : undefined
}

describe('an admission', () => {
  test.each(['pooled', 'bundled', 'included'] as const)('is known when it is %s', (known) => {
    fc.assert(
      fc.property(operation, (op) => {
        const pool = { ...empty, known, ofSender: 99, total: 999 }
        const decision = decideAdmission({ operation: op, prefund: 1n, deposit: 0n }, pool, limits)
        expect(decision).toEqual({ kind: 'known' })
      }),
    )
  })

  test.each(['dropped', 'replaced'] as const)('may come back when it was %s', (known) => {
    fc.assert(
      fc.property(operation, (op) => {
        const candidate = { operation: op, prefund: 1n, deposit: undefined }
        const decision = decideAdmission(candidate, { ...empty, known }, limits)
        expect(decision).toEqual({ kind: 'insert', replaces: undefined })
      }),
    )
  })

  test('replaces exactly when both fees reach what replacementFees asks', () => {
    const offset = fc.bigInt({ min: -2n, max: 2n })
    fc.assert(
      fc.property(operation, wei, wei, offset, offset, (op, maxFee, tip, more, moreTip) => {
        const pooled = { maxFeePerGas: maxFee, maxPriorityFeePerGas: tip }
        const least = replacementFees(pooled)
        const slot = {
          hash: other,
          state: 'pooled' as const,
          prefund: 1n,
          paymaster: null,
          ...pooled,
        }
        const priced = {
          ...op,
          maxFeePerGas: least.maxFeePerGas + more,
          maxPriorityFeePerGas: least.maxPriorityFeePerGas + moreTip,
        }
        const pool = { ...empty, slot, ofSender: 4, total: 100 }
        const candidate = { operation: priced, prefund: 1n, deposit: undefined }
        if (more >= 0n && moreTip >= 0n)
          expect(decideAdmission(candidate, pool, limits)).toEqual({
            kind: 'insert',
            replaces: other,
          })
        else expect(refusal(candidate, pool, limits)).toBeInstanceOf(ReplacementUnderpricedError)
      }),
    )
  })

  test('never replaces what is in a signed bundle', () => {
    fc.assert(
      fc.property(operation, (op) => {
        const slot = {
          ...{ hash: other, state: 'bundled' as const, prefund: 1n, paymaster: null },
          ...{ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
        }
        const candidate = { operation: op, prefund: 1n, deposit: undefined }
        expect(refusal(candidate, { ...empty, slot }, limits)).toBeInstanceOf(AlreadyBundledError)
      }),
    )
  })

  test('keeps the limits per sender and in all', () => {
    fc.assert(
      fc.property(operation, fc.nat(8), fc.nat(200), (op, ofSender, total) => {
        const candidate = { operation: op, prefund: 1n, deposit: undefined }
        const error = refusal(candidate, { ...empty, ofSender, total }, limits)
        if (ofSender >= 4 || total >= 100) expect(error).toBeInstanceOf(MempoolFullError)
        else expect(error).toBeUndefined()
      }),
    )
  })

  test('asks for a deposit that covers what is pending, less what it replaces', () => {
    fc.assert(
      fc.property(operation, wei, wei, wei, fc.boolean(), (op, others, old, deposit, same) => {
        const slot = {
          ...{ hash: other, state: 'pooled' as const, prefund: old },
          ...{ maxFeePerGas: 0n, maxPriorityFeePerGas: 0n },
          paymaster: same ? paymaster : null,
        }
        const dear = { ...op, paymaster, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
        const pool = { ...empty, slot, paymasterPending: others + (same ? old : 0n) }
        const prefund = 1_000n
        const error = refusal({ operation: dear, prefund, deposit }, pool, limits)
        if (deposit < others + prefund) expect(error).toBeInstanceOf(PaymasterDepositError)
        else expect(error).toBeUndefined()
      }),
    )
  })
})

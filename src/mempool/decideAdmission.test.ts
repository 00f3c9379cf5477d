import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { arbitraryOperation } from '../../test/support/operations/arbitraryOperation.js'
import {
  AlreadyBundledError,
  MempoolFullError,
  PaymasterDepositError,
  ReplacementUnderpricedError,
} from '../base/errors/operationErrors.js'
import { UnstakedEntityFullError } from '../base/errors/ruleErrors.js'
import {
  decideAdmission,
  minimumReplacement,
  type Occupancy,
  tipAt,
  raiseFee,
} from './decideAdmission.js'

const limits = { maxOperationsPerSender: 4, maxOperationsPerApp: 50, maxOperations: 100 }
const other: Hex = `0x${'01'.repeat(32)}`
const paymaster: Address = `0x${'aa'.repeat(20)}`

const empty: Occupancy = {
  known: undefined,
  slot: undefined,
  ofSender: 0,
  ofApp: 0,
  total: 0,
  paymasterPending: 0n,
  cheapest: undefined,
}
const baseFee = 0n
const appId = 'app'

const wei = fc.bigInt({ min: 0n, max: 2n ** 200n })
const operation = arbitraryOperation('0.6').map((op) => ({ ...op, paymaster: undefined }))

function refusal(...given: Parameters<typeof decideAdmission>): unknown {
  const decision = decideAdmission(...given)
  return decision.kind === 'refuse' ? decision.error : undefined
}

describe('an admission', () => {
  test.each(['pooled', 'bundled', 'included'] as const)('is known when it is %s', (known) => {
    fc.assert(
      fc.property(operation, (op) => {
        const pool = { ...empty, known, ofSender: 99, total: 999 }
        const decision = decideAdmission(
          { operation: op, prefund: 1n, deposit: 0n, baseFee },
          pool,
          limits,
        )
        expect(decision).toEqual({ kind: 'known' })
      }),
    )
  })

  test.each(['dropped', 'replaced'] as const)('may come back when it was %s', (known) => {
    fc.assert(
      fc.property(operation, (op) => {
        const candidate = { operation: op, prefund: 1n, deposit: undefined, baseFee }
        const decision = decideAdmission(candidate, { ...empty, known }, limits)
        expect(decision).toEqual({ kind: 'insert', replaces: undefined, evicts: undefined })
      }),
    )
  })

  test('replaces exactly when both fees reach what replacementFees asks', () => {
    const offset = fc.bigInt({ min: -2n, max: 2n })
    fc.assert(
      fc.property(operation, wei, wei, offset, offset, (op, maxFee, tip, more, moreTip) => {
        const pooled = { maxFeePerGas: maxFee, maxPriorityFeePerGas: tip }
        const least = minimumReplacement(pooled)
        const slot = {
          hash: other,
          state: 'pooled' as const,
          prefund: 1n,
          paymaster: null,
          appId,
          ...pooled,
        }
        const priced = {
          ...op,
          maxFeePerGas: least.maxFeePerGas + more,
          maxPriorityFeePerGas: least.maxPriorityFeePerGas + moreTip,
        }
        const pool = { ...empty, slot, ofSender: 4, total: 100 }
        const candidate = { operation: priced, prefund: 1n, deposit: undefined, baseFee }
        if (more >= 0n && moreTip >= 0n)
          expect(decideAdmission(candidate, pool, limits)).toEqual({
            kind: 'insert',
            replaces: slot,
            evicts: undefined,
          })
        else expect(refusal(candidate, pool, limits)).toBeInstanceOf(ReplacementUnderpricedError)
      }),
    )
  })

  test('never replaces what is in a signed bundle', () => {
    fc.assert(
      fc.property(operation, (op) => {
        const slot = {
          hash: other,
          state: 'bundled' as const,
          prefund: 1n,
          paymaster: null,
          appId,
          maxFeePerGas: 0n,
          maxPriorityFeePerGas: 0n,
        }
        const candidate = { operation: op, prefund: 1n, deposit: undefined, baseFee }
        expect(refusal(candidate, { ...empty, slot }, limits)).toBeInstanceOf(AlreadyBundledError)
      }),
    )
  })

  test('keeps the limits per sender, per app and in all', () => {
    fc.assert(
      fc.property(operation, fc.nat(8), fc.nat(100), fc.nat(200), (op, ofSender, ofApp, total) => {
        const candidate = { operation: op, prefund: 1n, deposit: undefined, baseFee }
        const error = refusal(candidate, { ...empty, ofSender, ofApp, total }, limits)
        if (ofSender >= 4) expect(error).toBeInstanceOf(UnstakedEntityFullError)
        else if (ofApp >= 50 || total >= 100) expect(error).toBeInstanceOf(MempoolFullError)
        else expect(error).toBeUndefined()
      }),
    )
  })

  test('takes the place of the cheapest in a full pool exactly when it bids 10 % more', () => {
    fc.assert(
      fc.property(operation, wei, wei, wei, (op, maxFeePerGas, maxPriorityFeePerGas, baseFee) => {
        const cheapest = {
          hash: other,
          maxFeePerGas,
          maxPriorityFeePerGas,
          prefund: 1n,
          paymaster: null,
          appId,
          entryPoint: paymaster,
          sender: paymaster,
          nonce: 0n,
        }
        const candidate = { operation: op, prefund: 1n, deposit: undefined, baseFee }
        const decision = decideAdmission(candidate, { ...empty, total: 100, cheapest }, limits)
        const least = raiseFee(tipAt(cheapest, baseFee))
        if (tipAt(op, baseFee) >= least)
          expect(decision).toEqual({ kind: 'insert', replaces: undefined, evicts: cheapest })
        else
          expect(decision).toMatchObject({
            kind: 'refuse',
            error: { name: 'MempoolFullError', message: expect.stringContaining(` ${least} wei`) },
          })
      }),
    )
  })

  test('asks for a deposit that covers what is pending, less what it replaces', () => {
    fc.assert(
      fc.property(operation, wei, wei, wei, fc.boolean(), (op, others, old, deposit, same) => {
        const slot = {
          hash: other,
          state: 'pooled' as const,
          prefund: old,
          appId,
          maxFeePerGas: 0n,
          maxPriorityFeePerGas: 0n,
          paymaster: same ? paymaster : null,
        }
        const expensive = { ...op, paymaster, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }
        const pool = { ...empty, slot, paymasterPending: others + (same ? old : 0n) }
        const prefund = 1_000n
        const error = refusal({ operation: expensive, prefund, deposit, baseFee }, pool, limits)
        if (deposit < others + prefund) expect(error).toBeInstanceOf(PaymasterDepositError)
        else expect(error).toBeUndefined()
      }),
    )
  })
})

const fee = fc.bigInt({ min: 0n, max: 2n ** 120n - 1n })

test('the required fees are the least integers that are 10 % higher, and higher by at least 1 wei', () => {
  fc.assert(
    fc.property(fee, fee, (maxFeePerGas, maxPriorityFeePerGas) => {
      const pooled = { maxFeePerGas, maxPriorityFeePerGas }
      const required = minimumReplacement(pooled)
      for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        const enough = (bid: bigint) => bid > pooled[field] && bid * 10n >= pooled[field] * 11n
        expect(enough(required[field])).toBe(true)
        expect(enough(required[field] - 1n)).toBe(false)
      }
    }),
  )
})

test('10 % of an odd fee is rounded up', () => {
  expect(minimumReplacement({ maxFeePerGas: 101n, maxPriorityFeePerGas: 1n })).toEqual({
    maxFeePerGas: 112n,
    maxPriorityFeePerGas: 2n,
  })
})

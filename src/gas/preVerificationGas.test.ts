import fc from 'fast-check'
import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { arbitraryOperation } from '../../test/support/operations/arbitraryOperation.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { widestOperation } from './placeholder.js'
import { preVerificationGas } from './preVerificationGas.js'

const entryPoint = createEntryPoint('0.6', '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789')
const share = { bundleSize: 1, verificationGasUsed: 0n, hasBeneficiary: false, contextSize: 0 }
function gasOf(op: Operation, changes = {}) {
  return preVerificationGas(entryPoint, op, { ...share, ...changes })
}

describe('preVerificationGas', () => {
  test('grows with call data, more for a byte that is not zero', () => {
    fc.assert(
      fc.property(
        arbitraryOperation('0.6'),
        fc.uint8Array({ minLength: 1, maxLength: 600 }),
        (op, more) => {
          const padded = op.callData.padEnd(Math.ceil(op.callData.length / 64) * 64 + 2, '0')
          const base = { ...op, callData: padded as Hex }
          const zeros: Operation = {
            ...op,
            callData: `${base.callData}${'00'.repeat(more.length)}`,
          }
          const full: Operation = { ...op, callData: `${base.callData}${'ff'.repeat(more.length)}` }
          expect(gasOf(zeros)).toBeGreaterThanOrEqual(gasOf(base))
          expect(gasOf(full)).toBeGreaterThanOrEqual(gasOf(zeros) + BigInt(more.length * 12))
        },
      ),
    )
  })

  test('falls with the size of the bundle, and a whole bundle pays its fixed costs', () => {
    fc.assert(
      fc.property(arbitraryOperation('0.6'), fc.integer({ min: 1, max: 50 }), (op, bundleSize) => {
        const alone = gasOf(op, { verificationGasUsed: 10n ** 9n })
        const shared = gasOf(op, { bundleSize, verificationGasUsed: 10n ** 9n })
        expect(shared).toBeLessThanOrEqual(alone)
        const saved = (alone - shared) * BigInt(bundleSize)
        const fixed = BigInt(21_000 + entryPoint.gas().overhead.fixed)
        expect(saved).toBeGreaterThanOrEqual(fixed * BigInt(bundleSize - 1) - BigInt(bundleSize))
      }),
    )
  })

  test('is without the floor of a chain that has none as where so much is charged that no floor binds', () => {
    fc.assert(
      fc.property(
        arbitraryOperation('0.6'),
        fc.bigInt({ min: 0n, max: 500_000n }),
        (op, verificationGasUsed) => {
          const known = { verificationGasUsed }
          const without = gasOf(op, { ...known, calldataFloor: false })
          expect(without).toBe(gasOf(op, { ...known, executionCharge: 10n ** 12n }))
          expect(without).toBeLessThanOrEqual(gasOf(op, known))
        },
      ),
    )
  })

  test('never falls when less verification is known to be paid for', () => {
    fc.assert(
      fc.property(
        arbitraryOperation('0.6'),
        fc.bigInt({ min: 0n, max: 500_000n }),
        fc.bigInt({ min: 0n, max: 500_000n }),
        (op, a, b) => {
          const [less, more] = a < b ? [a, b] : [b, a]
          expect(gasOf(op, { verificationGasUsed: less })).toBeGreaterThanOrEqual(
            gasOf(op, { verificationGasUsed: more }),
          )
        },
      ),
    )
  })
})

test('where the gas limit is charged it pays for that, and for storage whose clearing gives nothing back', () => {
  fc.assert(
    fc.property(arbitraryOperation('0.6'), fc.bigInt({ min: 0n, max: 50_000n }), (any, used) => {
      const [callGasLimit, verificationGasLimit] = [any.callGasLimit, any.verificationGasLimit].map(
        (limit) => limit % 2n ** 24n,
      ) as [bigint, bigint]
      const op = { ...any, callGasLimit, verificationGasLimit }
      const known = { verificationGasUsed: used }
      const [half, whole] = (['halfLimit', 'limit'] as const).map((chargedGas) =>
        gasOf(op, { ...known, chargedGas }),
      )
      const limit = 21_000n + entryPoint.bundleGas(op)
      expect(half! + used).toBeGreaterThanOrEqual(limit / 2n)
      expect(whole! + used).toBeGreaterThanOrEqual(limit)
      expect(whole!).toBeGreaterThanOrEqual(half!)
      const refund = op.paymaster === undefined ? 19_900n : 0n
      const ample = { verificationGasUsed: 10n ** 12n }
      const standard = gasOf(op, ample)
      expect(gasOf(op, { ...ample, chargedGas: 'halfLimit' })).toBe(standard + refund)
    }),
  )
})

describe('widestOperation', () => {
  test('needs at least what any operation needs that comes of the draft, also of one with a short dummy', () => {
    const gasLimit = fc.bigInt({ min: 0n, max: 2n ** 24n - 1n })
    fc.assert(
      fc.property(
        arbitraryOperation('0.6'),
        fc.uint8Array({ minLength: 65, maxLength: 65 }),
        fc.integer({ min: 1, max: 65 }),
        gasLimit,
        gasLimit,
        gasLimit,
        (op, signature, length, callGasLimit, verificationGasLimit, preVerification) => {
          const draft = { ...op, signature: `0x${'00'.repeat(length)}` as Hex }
          const sent = {
            ...op,
            signature: `0x${Buffer.from(signature).toString('hex')}` as Hex,
            callGasLimit,
            verificationGasLimit,
            preVerificationGas: preVerification,
          }
          expect(gasOf(widestOperation(draft))).toBeGreaterThanOrEqual(gasOf(sent))
        },
      ),
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { arbitraryOperation } from '../../test/support/operations/arbitraryOperation.js'
import { unusedGasCharge } from '../../test/support/operations/unusedGasCharge.js'
import { canonicalAddresses } from './canonicalAddresses.js'
import { minedUnusedGas } from './charges.js'
import { createEntryPoint } from './createEntryPoint.js'
import type { Operation } from './operation.js'
import { versions } from './versionFacts.js'

const [any] = fc.sample(arbitraryOperation('0.7'), { seed: 1, numRuns: 1 })
const PAYMASTER = `0x${'7'.repeat(40)}` as const

const limits: Operation = {
  ...any!,
  callGasLimit: 1n,
  verificationGasLimit: 10n,
  preVerificationGas: 100n,
  paymaster: undefined,
  paymasterVerificationGasLimit: 1_000n,
  paymasterPostOpGasLimit: 10_000n,
  maxFeePerGas: 2n,
}

describe.each(versions)('charges of v%s', (version) => {
  const entryPoint = createEntryPoint(version, canonicalAddresses[version])

  it('ask for maxFeePerGas on every limit', () => {
    fc.assert(
      fc.property(arbitraryOperation(version), (op) => {
        expect(entryPoint.requiredPrefund(op)).toBe(entryPoint.chargeableGas(op) * op.maxFeePerGas)
      }),
    )
  })

  it('leave paymaster limits out without a paymaster', () => {
    expect(entryPoint.chargeableGas(limits)).toBe(111n)
    expect(entryPoint.requiredPrefund(limits)).toBe(222n)
  })

  it('count what a paymaster may use', () => {
    const sponsored = { ...limits, paymaster: PAYMASTER }
    expect(entryPoint.chargeableGas(sponsored)).toBe(version === '0.6' ? 131n : 11_111n)
  })

  it('price gas at base fee plus tip, at most the maximum', () => {
    const fees = { ...limits, maxFeePerGas: 100n, maxPriorityFeePerGas: 2n }
    expect(entryPoint.gasPrice(fees, 30n)).toBe(32n)
    expect(entryPoint.gasPrice(fees, 98n)).toBe(100n)
    expect(entryPoint.gasPrice(fees, 99n)).toBe(100n)
    expect(entryPoint.gasPrice({ ...fees, maxPriorityFeePerGas: 100n }, 30n)).toBe(100n)
    expect(entryPoint.gasPrice({ ...fees, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }, 30n)).toBe(
      0n,
    )
  })
})

it('a zero paymaster is none in v0.6', () => {
  const entryPoint = createEntryPoint('0.6', canonicalAddresses['0.6'])
  const paymaster = `0x${'0'.repeat(40)}` as const
  expect(entryPoint.chargeableGas({ ...limits, paymaster })).toBe(111n)
})

describe.each(versions)('bundleGas of v%s', (version) => {
  const entryPoint = createEntryPoint(version, canonicalAddresses[version])
  const gas = fc.bigInt({ min: 0n, max: 10_000_000n })

  it('grants every limit and adds a few percent and a constant', () => {
    fc.assert(
      fc.property(
        arbitraryOperation(version),
        fc.tuple(gas, gas, gas, gas),
        (op, [callGasLimit, verificationGasLimit, paymasterVerification, paymasterPostOp]) => {
          const limited = {
            ...op,
            callGasLimit,
            verificationGasLimit,
            preVerificationGas: 0n,
            paymasterVerificationGasLimit: paymasterVerification,
            paymasterPostOpGasLimit: paymasterPostOp,
          }
          // v0.6 asks for the gas of a postOp even where there is none.
          const reserve =
            version === '0.6' && op.paymaster === undefined ? verificationGasLimit : 0n
          const limits = entryPoint.chargeableGas(limited) + reserve
          const granted = entryPoint.bundleGas(limited)
          expect(granted).toBeGreaterThan(limits)
          expect(granted).toBeLessThan((limits * 104n) / 100n + 100_000n)
        },
      ),
    )
  })

  it('does not depend on fees or preVerificationGas', () => {
    const other = { ...limits, preVerificationGas: 1n, maxFeePerGas: 0n, maxPriorityFeePerGas: 9n }
    expect(entryPoint.bundleGas(other)).toBe(entryPoint.bundleGas(limits))
  })
})

const gas = fc.bigInt({ min: 0n, max: 200_000n })

test.each(versions)(
  'v%s charges no less for execution, whatever that uses, and as little where it uses nothing or leaves 40,000',
  (version) => {
    const entryPoint = createEntryPoint(version, `0x${'ee'.repeat(20)}`)
    fc.assert(
      fc.property(arbitraryOperation(version), gas, gas, gas, (any, call, postOp, used) => {
        const op = { ...any, callGasLimit: call, paymasterPostOpGasLimit: postOp }
        const charged = (used: bigint) => used + unusedGasCharge(version, op, used)
        const least = entryPoint.leastExecutionCharge(op)
        expect(charged(used)).toBeGreaterThanOrEqual(least)
        const leaving = call > 40_000n ? call - 40_000n : 0n
        expect([charged(0n), charged(leaving)]).toContain(least)
      }),
    )
  },
)

/** Gas that the contract charges for an execution with a context, and the part that is for unused gas. */
function executionOf(
  version: (typeof versions)[number],
  op: Operation,
  call: bigint,
  postOp: bigint,
) {
  const ofPostOp =
    version === '0.6' || version === '0.7' || op.paymasterPostOpGasLimit - postOp <= 40_000n
      ? 0n
      : (op.paymasterPostOpGasLimit - postOp) / 10n
  const together = version === '0.7' ? call + postOp : call
  const penalty = unusedGasCharge(version, op, together) + ofPostOp
  return { penalty, charged: call + postOp + penalty }
}

describe.each(versions)('the charge for unused gas of a mined operation of v%s', (version) => {
  const entryPoint = createEntryPoint(version, `0x${'ee'.repeat(20)}`)
  const hasThreshold = version === '0.8' || version === '0.9'
  const upTo = (max: bigint) => fc.bigInt({ min: 0n, max })
  const find = (op: Operation, contextSize: number, charged: bigint, saved = 0n) =>
    minedUnusedGas(
      entryPoint,
      op,
      { verificationGasUsed: 70_000n, contextSize },
      op.preVerificationGas + 70_000n - saved + charged,
    )
  const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a)

  test('is found without a postOp, but where a call left about 40,000 gas', () => {
    const shares = fc.tuple(upTo(2_000_000n), upTo(1_000n))
    fc.assert(
      fc.property(shares, ([callGasLimit, thousandths]) => {
        const op = { ...limits, callGasLimit }
        const used = (callGasLimit * thousandths) / 1_000n
        const { penalty, charged } = executionOf(version, op, used, 0n)
        const unused = callGasLimit - used
        const isUnsure = hasThreshold && unused > 40_000n && unused <= 44_446n
        if (isUnsure)
          expect([0n, penalty - 1n, penalty, penalty + 1n]).toContain(find(op, 0, charged))
        else expect(distance(find(op, 0, charged), penalty)).toBeLessThanOrEqual(1n)
      }),
      { numRuns: 2_000 },
    )
  })

  test('with a postOp is wrong by two ninths of 40,000 gas at most, and by nothing in v0.6 and v0.7', () => {
    const shares = fc.tuple(upTo(1_000n), upTo(1_000n))
    fc.assert(
      fc.property(upTo(500_000n), upTo(200_000n), shares, (callGasLimit, postOpLimit, [a, b]) => {
        const op = {
          ...limits,
          callGasLimit,
          paymaster: PAYMASTER,
          paymasterPostOpGasLimit: version === '0.6' ? 0n : postOpLimit,
        }
        const postOp = (op.paymasterPostOpGasLimit * b) / 1_000n
        const { penalty, charged } = executionOf(version, op, (callGasLimit * a) / 1_000n, postOp)
        const bound = hasThreshold ? 8_892n : 1n
        expect(distance(find(op, 32, charged), penalty)).toBeLessThanOrEqual(bound)
      }),
      { numRuns: 5_000 },
    )
  })

  test('is wrong by a ninth of what validation saved in its bundle, and never above a tenth of the limits', () => {
    fc.assert(
      fc.property(upTo(500_000n), upTo(20_000n), upTo(1_000n), (callGasLimit, saved, share) => {
        const op = { ...limits, callGasLimit }
        const { penalty, charged } = executionOf(version, op, (callGasLimit * share) / 1_000n, 0n)
        const found = find(op, 0, charged, saved)
        expect(found).toBeLessThanOrEqual(callGasLimit / 10n + 1n)
        expect(found).toBeGreaterThanOrEqual(0n)
        const bound = saved / 9n + (hasThreshold ? 4_446n : 2n)
        expect(distance(found, penalty)).toBeLessThanOrEqual(bound)
      }),
      { numRuns: 2_000 },
    )
  })
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryOperation } from '../../../test/support/operations/arbitraryOperation.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { bundleFees, highestTip, resubmissionFees, takeoverFees } from './bundleFees.js'

const entryPoint = createEntryPoint('0.6', `0x${'ee'.repeat(20)}`)
const wei = fc.bigInt({ min: 0n, max: 10n ** 13n })

const fees = fc
  .tuple(wei, wei)
  .map(([a, b]) =>
    a < b
      ? { maxFeePerGas: b, maxPriorityFeePerGas: a }
      : { maxFeePerGas: a, maxPriorityFeePerGas: b },
  )

const operation: fc.Arbitrary<Operation> = fc
  .tuple(arbitraryOperation('0.6'), fees)
  .map(([op, priced]) => ({ ...op, ...priced }))

const operations = fc.array(operation, { minLength: 1, maxLength: 5 })

/** wei per gas that a transaction pays. */
function price(
  { maxFeePerGas, maxPriorityFeePerGas }: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint },
  baseFee: bigint,
): bigint {
  const full = baseFee + maxPriorityFeePerGas
  return full < maxFeePerGas ? full : maxFeePerGas
}

test('a bundle never pays more per gas than each of its operations, at any base fee', () => {
  fc.assert(
    fc.property(operations, fees, wei, (ops, target, baseFee) => {
      const bid = bundleFees(entryPoint, ops, target)
      expect(bid.maxPriorityFeePerGas).toBeLessThanOrEqual(bid.maxFeePerGas)
      fc.pre(baseFee <= bid.maxFeePerGas)
      for (const op of ops)
        expect(price(bid, baseFee)).toBeLessThanOrEqual(entryPoint.gasPrice(op, baseFee))
    }),
  )
})

test('a bundle of rich operations bids the target and no more', () => {
  fc.assert(
    fc.property(operations, fees, (ops, target) => {
      const rich = ops.map((op) => ({
        ...op,
        callGasLimit: op.callGasLimit + 100_000n,
        maxFeePerGas: op.maxFeePerGas + target.maxFeePerGas * 2n,
        maxPriorityFeePerGas: op.maxPriorityFeePerGas + target.maxPriorityFeePerGas,
      }))
      expect(bundleFees(entryPoint, rich, target)).toEqual(target)
    }),
  )
})

test('a replacement raises both fees by 12.5 % and is paid for, or is not made', () => {
  fc.assert(
    fc.property(fees, fees, fees, (previous, fast, ceiling) => {
      const pays = (fees: typeof ceiling) =>
        fees.maxFeePerGas <= ceiling.maxFeePerGas &&
        fees.maxPriorityFeePerGas <= ceiling.maxPriorityFeePerGas
      const raised = resubmissionFees({ previous, fast, pays })
      if (!raised) {
        const tip = (previous.maxPriorityFeePerGas * 9n) / 8n + 2n
        const max = (previous.maxFeePerGas * 9n) / 8n + 2n
        expect(pays({ maxFeePerGas: max, maxPriorityFeePerGas: tip })).toBe(false)
        return
      }
      expect(pays(raised)).toBe(true)
      for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        expect(raised[fee]).toBeGreaterThan(previous[fee])
        expect(raised[fee] * 8n).toBeGreaterThanOrEqual(previous[fee] * 9n)
      }
      expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
    }),
  )
})

test('a replacement follows advice that rises by more than 12.5 %', () => {
  fc.assert(
    fc.property(fees, (fast) => {
      const previous = {
        maxFeePerGas: fast.maxFeePerGas / 2n,
        maxPriorityFeePerGas: fast.maxPriorityFeePerGas / 2n,
      }
      const raised = resubmissionFees({ previous, fast, pays: () => true })
      expect(raised?.maxFeePerGas).toBeGreaterThanOrEqual(fast.maxFeePerGas)
      expect(raised?.maxPriorityFeePerGas).toBeGreaterThanOrEqual(fast.maxPriorityFeePerGas)
    }),
  )
})

test('the highest tip that pays is found, to the wei', () => {
  fc.assert(
    fc.property(fees, wei, wei, (bid, ceiling, floor) => {
      const lowered = highestTip(bid, floor, (fees) => fees.maxPriorityFeePerGas < ceiling)
      const { maxPriorityFeePerGas: most } = bid
      const highest = most < ceiling ? most : ceiling - 1n
      expect(lowered?.maxPriorityFeePerGas).toBe(highest < floor ? undefined : highest)
    }),
  )
})

test('a takeover: both fees rise by 12.5 % at least, reach the advice, and stay a valid pair', () => {
  fc.assert(
    fc.property(fees, fees, (previous, fast) => {
      const raised = takeoverFees(previous, fast)
      for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        expect(raised[fee]).toBeGreaterThan(previous[fee])
        expect(raised[fee] * 8n).toBeGreaterThanOrEqual(previous[fee] * 9n)
        expect(raised[fee]).toBeGreaterThanOrEqual(fast[fee])
      }
      expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
    }),
  )
})

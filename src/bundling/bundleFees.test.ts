import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryOperation } from '../../test/support/arbitraryOperation.js'
import { createEntryPoint } from '../entrypoint/index.js'
import type { Operation } from '../entrypoint/operation.js'
import { bundleFees, resubmissionFees } from './bundleFees.js'

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
const price = (
  { maxFeePerGas, maxPriorityFeePerGas }: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint },
  baseFee: bigint,
): bigint => {
  const full = baseFee + maxPriorityFeePerGas
  return full < maxFeePerGas ? full : maxFeePerGas
}

test('a bundle never pays more per gas than each of its operations, at any base fee', () => {
  fc.assert(
    fc.property(operations, fees, wei, (ops, network, baseFee) => {
      const own = bundleFees(ops, network)
      expect(own.maxPriorityFeePerGas).toBeLessThanOrEqual(own.maxFeePerGas)
      fc.pre(baseFee <= own.maxFeePerGas)
      for (const op of ops)
        expect(price(own, baseFee)).toBeLessThanOrEqual(entryPoint.gasPrice(op, baseFee))
    }),
  )
})

test('a bundle of rich operations pays what the network asks and no more', () => {
  fc.assert(
    fc.property(operations, fees, (ops, network) => {
      const rich = ops.map((op) => ({
        ...op,
        maxFeePerGas: op.maxFeePerGas + network.maxFeePerGas,
        maxPriorityFeePerGas: op.maxPriorityFeePerGas + network.maxPriorityFeePerGas,
      }))
      expect(bundleFees(rich, network)).toEqual(network)
    }),
  )
})

test('a replacement raises both fees by 12.5 % or is not made, and costs at most half more', () => {
  fc.assert(
    fc.property(operations, fees, fees, wei, (ops, previous, network, baseFee) => {
      const raised = resubmissionFees({ entryPoint, ops, previous, network, baseFee })
      if (!raised) return
      for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        expect(raised[fee]).toBeGreaterThan(previous[fee])
        expect(raised[fee] * 8n).toBeGreaterThanOrEqual(previous[fee] * 9n)
      }
      expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
      for (const op of ops) {
        expect(price(raised, baseFee) * 2n).toBeLessThanOrEqual(
          entryPoint.gasPrice(op, baseFee) * 3n,
        )
        expect(raised.maxFeePerGas * 2n).toBeLessThanOrEqual(op.maxFeePerGas * 3n)
      }
    }),
  )
})

test('a replacement follows a network that asks for more than 12.5 %', () => {
  fc.assert(
    fc.property(operation, fees, (op, network) => {
      const rich = {
        ...op,
        maxFeePerGas: network.maxFeePerGas * 2n + 100n,
        maxPriorityFeePerGas: network.maxPriorityFeePerGas * 2n + 50n,
      }
      const previous = {
        maxFeePerGas: network.maxFeePerGas / 2n,
        maxPriorityFeePerGas: network.maxPriorityFeePerGas / 2n,
      }
      const raised = resubmissionFees({ entryPoint, ops: [rich], previous, network, baseFee: 0n })
      expect(raised?.maxFeePerGas).toBeGreaterThanOrEqual(network.maxFeePerGas)
      expect(raised?.maxPriorityFeePerGas).toBeGreaterThanOrEqual(network.maxPriorityFeePerGas)
    }),
  )
})

test('a bundle whose operations are all settled elsewhere is not made dearer', () => {
  const previous = { maxFeePerGas: 8n, maxPriorityFeePerGas: 8n }
  const stuck = { entryPoint, ops: [], previous, network: previous, baseFee: 0n }
  expect(resubmissionFees(stuck)).toBeUndefined()
})

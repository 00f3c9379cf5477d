import { smallest, sum } from '../../base/bigints.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Operation } from '../../entrypoint/operation.js'
import { highestPrice, maxChargedGas } from '../../gas/highestPrice.js'
import type { BundleCost } from '../../gas/preVerificationGas.js'

/** An operation of a bundle, with gas that it is sure to be charged beside preVerificationGas. */
export type Paying = { readonly op: Operation; readonly metered: bigint }

type PricedBundle = {
  readonly entryPoint: EntryPoint
  readonly paying: readonly Paying[]
  readonly cost: BundleCost
}

/**
 * Whether the charges that the EntryPoint collects from the operations cover the cost of the
 * transaction, at every base fee at which it can be included with `fees`, and however much of their
 * limits the operations use. Pure integer arithmetic, no rounding.
 *
 * Both sides are piecewise linear in the base fee and in the gas used, so it is enough to compare them
 * at the ends and at the breakpoints.
 */
export function paysForItself({ entryPoint, paying, cost }: PricedBundle, fees: Fees): boolean {
  const ops = paying.map(({ op }) => op)
  const prepaid = sum(ops.map((op) => op.preVerificationGas))
  const charged = prepaid + sum(paying.map(({ metered }) => metered))
  // Where no gas costs more than each operation pays for it, enough gas is enough.
  if (!outbids(entryPoint, ops, fees) && prepaid >= cost.unmetered && charged >= cost.floor) {
    return true
  }
  return breakpoints(entryPoint, ops, fees).every((baseFee) => {
    const price = smallest(fees.maxFeePerGas, baseFee + fees.maxPriorityFeePerGas)
    const earned = (op: Operation, gas: bigint) =>
      smallest(entryPoint.requiredPrefund(op), gas * entryPoint.gasPrice(op, baseFee))
    /** wei left of an operation's charge when the gas it was charged for is paid. */
    const margin = (op: Operation, gas: bigint) => earned(op, gas) - gas * price
    const margins = ops.map((op) =>
      smallest(margin(op, op.preVerificationGas), margin(op, maxChargedGas(entryPoint, op))),
    )
    const surplus = sum(margins) + (prepaid - cost.unmetered) * price
    const certain = paying.map(({ op, metered }) => earned(op, op.preVerificationGas + metered))
    return surplus >= 0n && sum(certain) >= cost.floor * price
  })
}

/** Whether gas of the transaction can cost more than one of the operations pays for it. */
function outbids(entryPoint: EntryPoint, ops: readonly Operation[], fees: Fees): boolean {
  return ops.some(
    (op) =>
      fees.maxFeePerGas > highestPrice(entryPoint, op) ||
      fees.maxPriorityFeePerGas > op.maxPriorityFeePerGas,
  )
}

/** Base fees at which a price stops growing, up to the highest at which the transaction is valid. */
function breakpoints(entryPoint: EntryPoint, ops: readonly Operation[], fees: Fees): bigint[] {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  const baseFees = [
    0n,
    maxFeePerGas,
    maxFeePerGas - maxPriorityFeePerGas,
    ...ops.flatMap((op) => {
      const highest = highestPrice(entryPoint, op)
      const prices = [op.maxFeePerGas, highest, highest + 1n]
      return prices.map((price) => price - op.maxPriorityFeePerGas)
    }),
  ]
  return [...new Set(baseFees)].filter((baseFee) => baseFee >= 0n && baseFee <= maxFeePerGas)
}

import { smallest, sum } from '../../base/bigints.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { BundleCost } from '../../gas/preVerificationGas.js'

/**
 * Gas that the EntryPoint may charge an operation beyond the sum of its limits: it meters its own work
 * around the call, up to 2,048 bytes of revert reason (v0.7 and later: of postOp as well). Beyond the
 * prefund nobody pays for it.
 */
const BEYOND_LIMITS = 25_000n
const BEYOND_POST_OP_LIMIT = 25_000n

/** The most gas that the EntryPoint may charge `op`, if it had the money. */
function mostCharged(entryPoint: EntryPoint, op: Operation): bigint {
  const postOp = op.paymaster === undefined ? 0n : BEYOND_POST_OP_LIMIT
  return entryPoint.chargeableGas(op) + BEYOND_LIMITS + postOp
}

/**
 * The highest price (wei per gas) at which the operation's prefund pays for all the gas that it may
 * cause, whatever its contracts do.
 */
export function highestPrice(entryPoint: EntryPoint, op: Operation): bigint {
  return entryPoint.requiredPrefund(op) / mostCharged(entryPoint, op)
}

/** An operation of a bundle, with gas that it is sure to be charged beside preVerificationGas. */
export type Paying = { readonly op: Operation; readonly metered: bigint }

type Bundle = {
  readonly entryPoint: EntryPoint
  readonly paying: readonly Paying[]
  readonly cost: BundleCost
}

/**
 * Whether what the EntryPoint collects from the operations covers what the transaction costs, at every
 * base fee at which it can be included with `fees`, and however much of their limits the operations
 * use: their whole prefund is lost to us only where it is theirs. Pure integer arithmetic, no rounding.
 *
 * Both sides are piecewise linear in the base fee and in the gas used, so looking at the ends and the
 * kinks is looking everywhere.
 */
export function paysForItself({ entryPoint, paying, cost }: Bundle, fees: Fees): boolean {
  const ops = paying.map(({ op }) => op)
  const prepaid = sum(ops.map((op) => op.preVerificationGas))
  const charged = prepaid + sum(paying.map(({ metered }) => metered))
  // Where no gas costs more than each operation pays for it, enough gas is enough.
  if (!outbids(entryPoint, ops, fees) && prepaid >= cost.unmetered && charged >= cost.floor) {
    return true
  }
  return kinks(entryPoint, ops, fees).every((baseFee) => {
    const price = smallest(fees.maxFeePerGas, baseFee + fees.maxPriorityFeePerGas)
    const earned = (op: Operation, gas: bigint) =>
      smallest(entryPoint.requiredPrefund(op), gas * entryPoint.gasPrice(op, baseFee))
    /** wei left of an operation's charge when the gas it was charged for is paid. */
    const left = (op: Operation, gas: bigint) => earned(op, gas) - gas * price
    const margins = ops.map((op) =>
      smallest(left(op, op.preVerificationGas), left(op, mostCharged(entryPoint, op))),
    )
    const surplus = sum(margins) + (prepaid - cost.unmetered) * price
    const certain = paying.map(({ op, metered }) => earned(op, op.preVerificationGas + metered))
    return surplus >= 0n && sum(certain) >= cost.floor * price
  })
}

/** Can gas of the transaction cost more than one of the operations pays for it? */
function outbids(entryPoint: EntryPoint, ops: readonly Operation[], fees: Fees): boolean {
  return ops.some(
    (op) =>
      fees.maxFeePerGas > highestPrice(entryPoint, op) ||
      fees.maxPriorityFeePerGas > op.maxPriorityFeePerGas,
  )
}

/** Base fees, up to the highest with which the transaction is valid, where a price stops growing. */
function kinks(entryPoint: EntryPoint, ops: readonly Operation[], fees: Fees): bigint[] {
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  const all = [
    0n,
    maxFeePerGas,
    maxFeePerGas - maxPriorityFeePerGas,
    ...ops.flatMap((op) => {
      const highest = highestPrice(entryPoint, op)
      const tops = [op.maxFeePerGas, highest, highest + 1n]
      return tops.map((top) => top - op.maxPriorityFeePerGas)
    }),
  ]
  return [...new Set(all)].filter((baseFee) => baseFee >= 0n && baseFee <= maxFeePerGas)
}

import type { Fees } from '../chain/feeAdvice.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { least } from './least.js'

/** wei per gas above the base fee that the EntryPoint charges the operation now; may be negative. */
export function effectiveTip(op: Operation, baseFee: bigint): bigint {
  return least(op.maxPriorityFeePerGas, op.maxFeePerGas - baseFee)
}

/**
 * Fees of a bundle's first transaction: what the network asks, but on neither fee more than its
 * poorest operation offers. Whatever the base fee becomes, no gas of the transaction then costs more
 * than the EntryPoint charges an operation for it.
 */
export function bundleFees(ops: readonly Operation[], network: Fees): Fees {
  return {
    maxFeePerGas: least(network.maxFeePerGas, ...ops.map((op) => op.maxFeePerGas)),
    maxPriorityFeePerGas: least(
      network.maxPriorityFeePerGas,
      ...ops.map((op) => op.maxPriorityFeePerGas),
    ),
  }
}

type Stuck = {
  readonly entryPoint: EntryPoint
  /** The operations still waiting for this bundle. */
  readonly ops: readonly Operation[]
  /** Fees of the newest transaction that is stuck. */
  readonly previous: Fees
  readonly network: Fees
  readonly baseFee: bigint
}

/**
 * Fees of a stuck transaction's replacement: both at least 12.5 % above the previous ones (nodes ask
 * for 10 %), and what the network asks if that is more.
 *
 * A stuck transaction blocks its executor, which is why this may cost money where `bundleFees` may
 * not: the price per gas may pass what the poorest operation pays, but by no more than half, now and
 * at any base fee. Undefined when no such fees exist; the transaction then waits for the base fee to
 * fall.
 */
export function resubmissionFees(stuck: Stuck): Fees | undefined {
  const { entryPoint, ops, previous, network, baseFee } = stuck
  const [first, ...others] = ops
  if (!first) return undefined
  const priceOf = (op: Operation) => entryPoint.gasPrice(op, baseFee)
  const paid = least(priceOf(first), ...others.map(priceOf))
  const highestTip = withExcess(paid) - baseFee
  const highestFee = withExcess(least(first.maxFeePerGas, ...others.map((op) => op.maxFeePerGas)))
  const maxPriorityFeePerGas = raise(
    previous.maxPriorityFeePerGas,
    network.maxPriorityFeePerGas,
    highestTip,
  )
  const maxFeePerGas = raise(previous.maxFeePerGas, network.maxFeePerGas, highestFee)
  const affordable =
    maxPriorityFeePerGas <= highestTip &&
    maxFeePerGas <= highestFee &&
    maxPriorityFeePerGas <= maxFeePerGas
  return affordable ? { maxFeePerGas, maxPriorityFeePerGas } : undefined
}

function withExcess(price: bigint): bigint {
  return (price * 3n) / 2n
}

/** The least acceptable raise, or more if the network wants it and `highest` allows it. */
function raise(previous: bigint, network: bigint, highest: bigint): bigint {
  const eighthMore = (previous * 9n + 7n) / 8n
  const accepted = eighthMore > previous ? eighthMore : previous + 1n
  const wanted = least(network, highest)
  return wanted > accepted ? wanted : accepted
}

import { greatest, smallest } from '../../base/bigints.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { Operation } from '../../entrypoint/operation.js'
import { highestPrice } from './paysForItself.js'
import { raisedFee } from './takeoverFees.js'

/**
 * wei per gas above the base fee that the operation surely pays now, whatever gas it uses; may be
 * negative.
 */
export function assuredTip(entryPoint: EntryPoint, op: Operation, baseFee: bigint): bigint {
  return smallest(op.maxPriorityFeePerGas, highestPrice(entryPoint, op) - baseFee)
}

/**
 * Fees of a bundle's first transaction: what the network asks, but on neither fee more than its
 * poorest operation surely pays. Whatever the base fee becomes, no gas of the transaction then costs
 * more than the EntryPoint charges an operation for it.
 */
export function bundleFees(entryPoint: EntryPoint, ops: readonly Operation[], network: Fees): Fees {
  const maxFeePerGas = smallest(
    network.maxFeePerGas,
    ...ops.map((op) => highestPrice(entryPoint, op)),
  )
  const tip = smallest(network.maxPriorityFeePerGas, ...ops.map((op) => op.maxPriorityFeePerGas))
  return { maxFeePerGas, maxPriorityFeePerGas: smallest(tip, maxFeePerGas) }
}

/** The same fees with the highest tip, at most theirs, at which `pays`; undefined when none does. */
export function highestTip(fees: Fees, pays: (fees: Fees) => boolean): Fees | undefined {
  const withTip = (maxPriorityFeePerGas: bigint) => ({ ...fees, maxPriorityFeePerGas })
  if (!pays(withTip(0n))) return undefined
  let [low, high] = [0n, fees.maxPriorityFeePerGas]
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (pays(withTip(middle))) low = middle
    else high = middle - 1n
  }
  return withTip(low)
}

type Stuck = {
  /** Fees of the newest transaction that is stuck. */
  readonly previous: Fees
  readonly network: Fees
  /** Whether a transaction with these fees costs no more than its operations pay. */
  readonly pays: (fees: Fees) => boolean
}

/**
 * Fees of a stuck transaction's replacement: both at least 12.5 % above the previous ones (nodes ask
 * for 10 %), and what the network asks if that is more and the operations pay it. Undefined when they
 * do not even pay the raise: a blocked executor costs time, a dearer transaction money. It then waits
 * for the base fee to fall.
 */
export function resubmissionFees({ previous, network, pays }: Stuck): Fees | undefined {
  const least = {
    maxFeePerGas: raisedFee(previous.maxFeePerGas),
    maxPriorityFeePerGas: raisedFee(previous.maxPriorityFeePerGas),
  }
  const wanted = {
    maxFeePerGas: greatest(least.maxFeePerGas, network.maxFeePerGas),
    maxPriorityFeePerGas: greatest(least.maxPriorityFeePerGas, network.maxPriorityFeePerGas),
  }
  return [wanted, { ...wanted, maxPriorityFeePerGas: least.maxPriorityFeePerGas }, least].find(
    (fees) => fees.maxPriorityFeePerGas <= fees.maxFeePerGas && pays(fees),
  )
}

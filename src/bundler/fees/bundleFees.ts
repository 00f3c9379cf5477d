import { greatest, smallest } from '../../base/bigints.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Fees } from '../../erc4337/fees.js'
import { highestPrice } from '../../gas/highestPrice.js'
import type { PricedOperation } from './pricedOperation.js'

/**
 * The tip in wei per gas that the operation is sure to pay at this base fee, whatever gas it uses;
 * negative where it does not even pay the base fee.
 */
export function assuredTip(entryPoint: EntryPoint, op: PricedOperation, baseFee: bigint): bigint {
  return smallest(op.maxPriorityFeePerGas, highestMaxFee(entryPoint, op) - baseFee)
}

/**
 * The highest maxFeePerGas of a transaction with the operation: it pays no more per gas than the
 * operation is sure to pay, and is not valid at a base fee at which the operation may make it revert.
 */
function highestMaxFee(entryPoint: EntryPoint, op: PricedOperation): bigint {
  const price = highestPrice(entryPoint, op)
  return op.highestBaseFee === undefined ? price : smallest(price, op.highestBaseFee)
}

/**
 * Fees of a bundle's first transaction: the target, but on neither fee more than its poorest operation
 * is sure to pay. Whatever the base fee becomes, no gas of the transaction then costs
 * more than the EntryPoint charges an operation for it, and no charge exceeds a prefund.
 */
export function bundleFees(
  entryPoint: EntryPoint,
  ops: readonly PricedOperation[],
  target: Fees,
): Fees {
  const maxFeePerGas = smallest(
    target.maxFeePerGas,
    ...ops.map((op) => highestMaxFee(entryPoint, op)),
  )
  const tip = smallest(target.maxPriorityFeePerGas, ...ops.map((op) => op.maxPriorityFeePerGas))
  return { maxFeePerGas, maxPriorityFeePerGas: smallest(tip, maxFeePerGas) }
}

/** The fees with their tip lowered to the highest one, from `floor` on, at which `pays`; undefined when it never does. */
export function highestTip(
  fees: Fees,
  floor: bigint,
  pays: (fees: Fees) => boolean,
): Fees | undefined {
  const withTip = (maxPriorityFeePerGas: bigint) => ({ ...fees, maxPriorityFeePerGas })
  if (floor > fees.maxPriorityFeePerGas || !pays(withTip(floor))) return undefined
  let [low, high] = [floor, fees.maxPriorityFeePerGas]
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (pays(withTip(middle))) low = middle
    else high = middle - 1n
  }
  return withTip(low)
}

type StuckTransaction = {
  /** Fees of the newest transaction that is stuck. */
  readonly previous: Fees
  /** The advised fees of the tier `fast`. */
  readonly fast: Fees
  /** Whether a transaction with these fees costs no more than its operations pay. */
  readonly pays: (fees: Fees) => boolean
}

/**
 * Fees of a stuck transaction's replacement: both at least 12.5 % above the previous ones (nodes ask
 * for 10 %), and the `fast` ones if those are higher and the operations pay them. Undefined when they
 * do not even pay the raise: a blocked executor costs time, a more expensive transaction money. It then waits
 * for the base fee to fall.
 */
export function resubmissionFees({ previous, fast, pays }: StuckTransaction): Fees | undefined {
  const raised = {
    maxFeePerGas: raisedFee(previous.maxFeePerGas),
    maxPriorityFeePerGas: raisedFee(previous.maxPriorityFeePerGas),
  }
  const highest = {
    maxFeePerGas: greatest(raised.maxFeePerGas, fast.maxFeePerGas),
    maxPriorityFeePerGas: greatest(raised.maxPriorityFeePerGas, fast.maxPriorityFeePerGas),
  }
  return [highest, { ...highest, maxPriorityFeePerGas: raised.maxPriorityFeePerGas }, raised].find(
    (fees) => fees.maxPriorityFeePerGas <= fees.maxFeePerGas && pays(fees),
  )
}

/**
 * Fees of a transaction that takes the place of `previous` and carries no operations that would pay
 * for it: 12.5 % more on both (nodes ask for 10 %), or the advised `fast` fees if those are higher.
 */
export function takeoverFees(previous: Fees, fast: Fees): Fees {
  const { maxFeePerGas, maxPriorityFeePerGas } = previous
  return {
    maxFeePerGas: greatest(raisedFee(maxFeePerGas), fast.maxFeePerGas),
    maxPriorityFeePerGas: greatest(raisedFee(maxPriorityFeePerGas), fast.maxPriorityFeePerGas),
  }
}

/** The fee raised by 12.5 %, by at least 1 wei: nodes ask for 10 % of a replacement. */
function raisedFee(fee: bigint): bigint {
  const eighthMore = (fee * 9n + 7n) / 8n
  return eighthMore > fee ? eighthMore : fee + 1n
}

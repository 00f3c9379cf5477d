import { greatest } from '../../base/bigints.js'
import type { Fees } from '../../entrypoint/fees.js'

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
export function raisedFee(fee: bigint): bigint {
  const eighthMore = (fee * 9n + 7n) / 8n
  return eighthMore > fee ? eighthMore : fee + 1n
}

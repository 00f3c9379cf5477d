import { greatest } from '../../base/bigints.js'
import type { Fees } from '../../entrypoint/fees.js'

/**
 * Fees of a transaction that takes the place of `previous` and carries no operations that would pay
 * for it: 12.5 % more on both (nodes ask for 10 %), or what the network asks if that is more.
 */
export function takeoverFees(previous: Fees, network: Fees): Fees {
  const { maxFeePerGas, maxPriorityFeePerGas } = previous
  return {
    maxFeePerGas: greatest(raisedFee(maxFeePerGas), network.maxFeePerGas),
    maxPriorityFeePerGas: greatest(raisedFee(maxPriorityFeePerGas), network.maxPriorityFeePerGas),
  }
}

/** 12.5 % more: what nodes ask of a replacement (10 %), and a little. */
export function raisedFee(fee: bigint): bigint {
  const eighthMore = (fee * 9n + 7n) / 8n
  return eighthMore > fee ? eighthMore : fee + 1n
}

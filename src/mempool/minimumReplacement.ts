import type { Fees } from '../entrypoint/fees.js'

/**
 * The least fees with which an operation takes the place of a pooled one with the same sender and
 * nonce.
 */
export function minimumReplacement(pooled: Fees): Fees {
  return {
    maxFeePerGas: raiseFee(pooled.maxFeePerGas),
    maxPriorityFeePerGas: raiseFee(pooled.maxPriorityFeePerGas),
  }
}

/** The fee raised by 10 %, rounded up, and by at least 1 wei: displacing a zero fee is not free. */
export function raiseFee(fee: bigint): bigint {
  const raised = (fee * 11n + 9n) / 10n
  return raised > fee ? raised : fee + 1n
}

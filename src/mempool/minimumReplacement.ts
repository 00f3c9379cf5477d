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

/** 10 % more, rounded up, and always at least 1 wei more, so that displacing a zero fee is not free. */
export function raiseFee(fee: bigint): bigint {
  const raised = (fee * 11n + 9n) / 10n
  return raised > fee ? raised : fee + 1n
}

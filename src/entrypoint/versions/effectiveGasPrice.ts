import type { Fees } from '../fees.js'

/**
 * wei per gas that every version charges at `baseFee`. The legacy mode of v0.6 and v0.7 (the whole
 * maximum when both fees are equal) is the same number: a tip of the maximum reaches it anyway.
 */
export function effectiveGasPrice(op: Fees, baseFee: bigint): bigint {
  const offered = op.maxPriorityFeePerGas + baseFee
  if (offered > op.maxFeePerGas) return op.maxFeePerGas
  return offered
}

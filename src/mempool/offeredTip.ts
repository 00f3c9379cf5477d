import type { Fees } from '../entrypoint/fees.js'
/** wei per gas that an operation leaves the bundler at `baseFee`; never negative. */
export function offeredTip({ maxFeePerGas, maxPriorityFeePerGas }: Fees, baseFee: bigint): bigint {
  const left = maxFeePerGas - baseFee
  if (left <= 0n) return 0n
  if (left < maxPriorityFeePerGas) return left
  return maxPriorityFeePerGas
}

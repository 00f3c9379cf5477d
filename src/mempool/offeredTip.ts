import { greatest, smallest } from '../base/bigints.js'
import type { Fees } from '../entrypoint/fees.js'

/** The tip in wei per gas that an operation offers the bundler at `baseFee`; never negative. */
export function offeredTip({ maxFeePerGas, maxPriorityFeePerGas }: Fees, baseFee: bigint): bigint {
  return greatest(smallest(maxFeePerGas - baseFee, maxPriorityFeePerGas), 0n)
}

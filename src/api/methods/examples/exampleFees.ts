import type { FeeAdvice } from '../../../chain/fees.js'

/** Fees of a quiet chain, in wei per gas. */
export const exampleFees: FeeAdvice = {
  slow: { maxFeePerGas: 1_200_000_000n, maxPriorityFeePerGas: 900_000n },
  standard: { maxFeePerGas: 1_500_000_000n, maxPriorityFeePerGas: 1_000_000n },
  fast: { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 2_000_000n },
}

/** The tiers as clients of Pimlico and ZeroDev read them. */
export const exampleFeeTiers = {
  slow: { maxFeePerGas: '0x47868c00', maxPriorityFeePerGas: '0xdbba0' },
  standard: { maxFeePerGas: '0x59682f00', maxPriorityFeePerGas: '0xf4240' },
  fast: { maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x1e8480' },
}

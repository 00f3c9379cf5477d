import { type Refusal, TAKE_FEES } from '../../base/errors/catalogue.js'
import type { Fees } from '../../erc4337/fees.js'

/** The operator's bounds on the fees of every sponsored operation. */
export type FeeLimits = {
  /** wei per gas that it may bid in any case, because advised fees can be almost zero. */
  readonly feeFloor: bigint
}

/**
 * The refusal of an operation that bids more than a client which asked for fees does. The tank pays what the
 * operation bids, and the bundler that includes it keeps the tip: such an operation would drain the tank into its
 * pocket. `most` is `mostBid`. Policies cannot lift this bound; a policy's own one is `maxFeeRule`, with the
 * same code FEE_TOO_HIGH, because the client's answer is the same. All in wei per gas.
 */
export function checkFees(bid: Fees, most: Fees, { feeFloor }: FeeLimits): Refusal | undefined {
  for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
    if (bid[field] > most[field] && bid[field] > feeFloor) {
      const message = `${field} is ${bid[field]} wei. A sponsored operation may bid ${most[field]} wei now and ${feeFloor} wei always. ${TAKE_FEES}`
      return { code: 'FEE_TOO_HIGH', message }
    }
  }
  return undefined
}

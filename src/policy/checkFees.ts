import type { Fees } from '../entrypoint/fees.js'
import type { Refusal } from '../errors/refusal.js'

export type FeeLimits = {
  /** How many times the fast fees of now a sponsored operation may offer. */
  readonly feeMultiple: bigint
  /** wei per gas that it may offer in any case: fast fees can be next to nothing. */
  readonly feeFloor: bigint
}

/**
 * The tank pays what the operation offers, and a bundler keeps the tip, so an operation that offers
 * far more than inclusion needs drains the tank into a bundler's pocket.
 */
export function checkFees(
  offered: Fees,
  fast: Fees,
  { feeMultiple, feeFloor }: FeeLimits,
): Refusal | undefined {
  for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
    const multiple = fast[field] * feeMultiple
    if (offered[field] > multiple && offered[field] > feeFloor) {
      const message = `${field} is ${offered[field]} wei. A sponsored operation may offer ${multiple} wei now (${feeMultiple} times the fast fee) and ${feeFloor} wei always. Take the fees from biconomy_getGasFeeValues.`
      return { code: 'FEE_TOO_HIGH', message }
    }
  }
  return undefined
}

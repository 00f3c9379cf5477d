import type { Fees } from '../entrypoint/fees.js'
import type { Refusal } from '../errors/refusal.js'

/** The operator's bounds on the fees of every sponsored operation. */
export type FeeLimits = {
  /** The multiple of the fast fees that a sponsored operation may offer. */
  readonly feeMultiple: bigint
  /** wei per gas that it may offer in any case, because fast fees can be almost zero. */
  readonly feeFloor: bigint
}

/**
 * The refusal of an operation that offers far more than inclusion needs. The tank pays what the
 * operation offers, and a bundler keeps the tip: such an operation would drain the tank into a
 * bundler's pocket. `fast` are the highest fast fees of the last ten blocks, which the client may have been told. Policies cannot lift this bound; a policy's own one is `maxFeeRule`, with the
 * same code FEE_TOO_HIGH, because the client's answer is the same. All in wei per gas.
 */
export function checkFees(
  offered: Fees,
  fast: Fees,
  { feeMultiple, feeFloor }: FeeLimits,
): Refusal | undefined {
  for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
    const multiple = fast[field] * feeMultiple
    if (offered[field] > multiple && offered[field] > feeFloor) {
      const message = `${field} is ${offered[field]} wei. A sponsored operation may offer ${multiple} wei now (${feeMultiple} times the fast fee of the last ten blocks) and ${feeFloor} wei always. Take the fees from biconomy_getGasFeeValues.`
      return { code: 'FEE_TOO_HIGH', message }
    }
  }
  return undefined
}

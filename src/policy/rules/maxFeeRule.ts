import type { PolicyTerms } from '../policy.js'
import type { Refusal } from '../../errors/refusal.js'

/** The operation offers no more per gas than the policy pays. wei per gas */
export function maxFeeRule(
  terms: Pick<PolicyTerms, 'maxFeePerGas'>,
  offered: bigint,
): Refusal | undefined {
  return terms.maxFeePerGas !== undefined && offered > terms.maxFeePerGas
    ? {
        code: 'FEE_TOO_HIGH',
        message: `maxFeePerGas is ${offered} wei; it pays ${terms.maxFeePerGas} wei at most.`,
      }
    : undefined
}

import type { EstimateFacts, PolicyRule } from './rule.js'

/**
 * The fee that the operation offers is at most the policy's. Its code FEE_TOO_HIGH is that of
 * `checkFees` too, because the client's answer is the same: offer less. There the operator bounds
 * every operation by what inclusion needs now; here the policy's owner names a fixed amount.
 */
export const maxFeeRule: PolicyRule<EstimateFacts> = (terms, { maxFeePerGas }) =>
  terms.maxFeePerGas !== undefined && maxFeePerGas > terms.maxFeePerGas
    ? {
        code: 'FEE_TOO_HIGH',
        message: `maxFeePerGas is ${maxFeePerGas} wei; it pays ${terms.maxFeePerGas} wei at most.`,
      }
    : undefined

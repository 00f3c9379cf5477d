import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { TokenQuote } from '../tokenData.js'

/** The unit of rate times markup: 1e18 wei by 1,000,000. */
const RATE_UNIT = 10n ** 24n

/**
 * Gas that v0.6 uses for an operation outside of its limits, and around each postOp (TokenTank06).
 */
const INNER_OVERHEAD = 30_000n
const POST_OP_OVERHEAD = 4_000n

/** Units of the token for `wei`, rounded up. */
export function tokenCharge(wei: bigint, quote: Pick<TokenQuote, 'rate' | 'markup'>): bigint {
  const scaled = wei * quote.rate * BigInt(quote.markup)
  return scaled / RATE_UNIT + (scaled % RATE_UNIT === 0n ? 0n : 1n)
}

/** The terms of a quote that bound the cost, before rate and token are known. */
export type PostOpTerms = Pick<TokenQuote, 'mode' | 'postOpGas'>

/**
 * The most wei that `op` is charged for. On v0.7 and later the EntryPoint takes no more than the
 * sum of the limits. v0.6 sets three times verificationGasLimit aside, which an operation never
 * costs; so there it is the limits once, postOp, which may run twice in mode `afterwards`, and the
 * EntryPoint's own gas.
 */
export function maxTokenCost(op: Operation, entryPoint: EntryPoint, terms: PostOpTerms): bigint {
  if (entryPoint.hasPaymasterLimits) return entryPoint.requiredPrefund(op)
  const limits = op.preVerificationGas + op.verificationGasLimit + op.callGasLimit
  return (limits + unlimitedGas(entryPoint, terms)) * op.maxFeePerGas
}

/** Gas that an operation is charged for beside the sum of its limits. */
export function unlimitedGas(
  { hasPaymasterLimits }: Pick<EntryPoint, 'hasPaymasterLimits'>,
  terms: PostOpTerms,
): bigint {
  if (hasPaymasterLimits) return 0n
  const postOps = terms.mode === 'afterwards' ? 2n : 1n
  return INNER_OVERHEAD + postOps * (terms.postOpGas + POST_OP_OVERHEAD)
}

/** The most units of the token that a tank takes for `op` (maxCharge of the contract). */
export function maxTokenCharge(op: Operation, entryPoint: EntryPoint, quote: TokenQuote): bigint {
  return tokenCharge(maxTokenCost(op, entryPoint, quote), quote)
}

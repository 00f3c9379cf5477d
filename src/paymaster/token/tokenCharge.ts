import { zeroAddress } from '../../erc4337/encoding/constants.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { DEPOSIT, surchargeOf, type TouchedSlots, wordGas } from '../tank/tankGas.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'

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
type PostOpTerms = Pick<TokenQuote, 'mode' | 'postOpGas'>

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

/** Gas that an operation is charged for on top of the sum of its limits. */
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

/** The fields that a token tank's validation copies and hashes. */
type ReadByTank = Pick<Operation, 'factoryData' | 'callData' | 'signature'>

/**
 * Gas of validation by mode, measured with a plain token of which the tank holds nothing yet (the
 * most expensive case): 63,400, 32,100 and 115,900 gas on v0.7, about 1,000 less on v0.8 and v0.9;
 * plus a margin of a fifth.
 */
const validation: Readonly<Record<TokenMode, bigint>> = {
  prefund: 76_000n,
  afterwards: 39_000n,
  permit: 139_000n,
}

/** The number of calls of the token in validation: transfer and permit, and reads of balances. */
const validationCalls: Readonly<Record<TokenMode, bigint>> = {
  prefund: 3n,
  afterwards: 1n,
  permit: 4n,
}

/** The deposit; the balances of sender and tank; with a permit its nonce and the allowance. */
const validationSlots: Readonly<Record<TokenMode, TouchedSlots>> = {
  prefund: { slots: 1, changes: DEPOSIT + 1 },
  afterwards: { slots: 0, changes: DEPOSIT },
  permit: { slots: 3, changes: DEPOSIT + 1 },
}

/**
 * Gas of postOp, measured also: 11,100 for a refund, 25,200 for the treasury, 35,200 for a
 * charge.
 */
const REFUND = 14_000n
const TREASURY = 30_000n
const CHARGE = 42_000n

/**
 * Gas for the validation of a token tank: paymasterVerificationGasLimit on v0.7 and later, its part
 * of verificationGasLimit on v0.6. `perCall` is the gas that a call of this token takes beyond one
 * of a plain token (a proxy, a look at a list). Depends on the operation's length alone, as
 * tankVerificationGas does.
 */
export function tokenVerificationGas(
  { gas }: Pick<EntryPoint, 'gas'>,
  op: ReadByTank,
  mode: TokenMode,
  perCall: bigint,
): bigint {
  const tokenGas = validationCalls[mode] * perCall + surchargeOf(gas, validationSlots[mode])
  return validation[mode] + wordGas(op) + tokenGas
}

/** Gas for postOp, which a quote names because all of it is charged; see `tokenVerificationGas`. */
export function tokenPostOpGas(
  { gas }: Pick<EntryPoint, 'gas'>,
  { mode, treasury }: Pick<TokenQuote, 'mode' | 'treasury'>,
  perCall: bigint,
): bigint {
  // The balances of sender and payee, which may be new.
  if (mode === 'afterwards') return CHARGE + perCall + surchargeOf(gas, { slots: 1, changes: 1 })
  // Validation has changed those of sender and tank already.
  if (treasury === zeroAddress) return REFUND + perCall
  return REFUND + TREASURY + 2n * perCall + surchargeOf(gas, { slots: 1, changes: 0 })
}

/** The verificationGasLimit of v0.6 below which its token tank refuses (TokenTank06). */
export function leastVerificationGas06(postOpGas: bigint): bigint {
  return postOpGas + postOpGas / 32n + 34_000n
}

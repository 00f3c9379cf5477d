import { zeroAddress } from '../../encoding/constants.js'
import type { Operation } from '../../entrypoint/operation.js'
import { wordGas } from '../tank/tankGas.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'

/** The fields that a token tank's validation copies and hashes. */
type ReadByTank = Pick<Operation, 'factoryData' | 'callData' | 'signature'>

/**
 * Gas of validation by mode, measured with a plain token of which the tank holds nothing yet (the
 * most expensive case): 63,400, 32,100 and 115,900 gas on v0.7, about 1,000 less on v0.8 and v0.9;
 * plus a fifth as room.
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

/**
 * Gas of postOp, measured likewise: 11,100 for a refund, 25,200 for the treasury, 35,200 for a
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
export function tokenVerificationGas(op: ReadByTank, mode: TokenMode, perCall: bigint): bigint {
  return validation[mode] + wordGas(op) + validationCalls[mode] * perCall
}

/** Gas for postOp, which a quote names because all of it is charged. */
export function tokenPostOpGas(
  { mode, treasury }: Pick<TokenQuote, 'mode' | 'treasury'>,
  perCall: bigint,
): bigint {
  if (mode === 'afterwards') return CHARGE + perCall
  return treasury === zeroAddress ? REFUND + perCall : REFUND + TREASURY + 2n * perCall
}

/** The verificationGasLimit of v0.6 below which its token tank refuses (TokenTank06). */
export function leastVerificationGas06(postOpGas: bigint): bigint {
  return postOpGas + postOpGas / 32n + 34_000n
}

import { zeroAddress } from '../../encoding/constants.js'
import type { Operation } from '../../entrypoint/operation.js'
import { wordGas } from '../tank/tankGas.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'

/** What a token tank's validation reads: it copies and hashes these. */
type ReadByTank = Pick<Operation, 'factoryData' | 'callData' | 'signature'>

/**
 * Measured with a plain token that the tank holds none of yet, which is dearest: 63,400, 32,100 and
 * 115,900 gas on v0.7, about 1,000 less on v0.8 and v0.9; and a fifth to spare.
 */
const validation: Readonly<Record<TokenMode, bigint>> = {
  prefund: 76_000n,
  afterwards: 39_000n,
  permit: 139_000n,
}

/** How often validation calls the token: transfer and permit, and reads of balances. */
const validationCalls: Readonly<Record<TokenMode, bigint>> = {
  prefund: 3n,
  afterwards: 1n,
  permit: 4n,
}

/** Measured likewise: 11,100 gas for a refund, 25,200 for the treasury, 35,200 for a charge. */
const REFUND = 14_000n
const TREASURY = 30_000n
const CHARGE = 42_000n

/**
 * Gas for the validation of a token tank: paymasterVerificationGasLimit on v0.7 and later, its part of
 * verificationGasLimit on v0.6. `perCall` is what a call of this token takes beyond one of a plain
 * token (a proxy, a look at a list). From the operation's length alone, as tankVerificationGas.
 */
export function tokenVerificationGas(op: ReadByTank, mode: TokenMode, perCall: bigint): bigint {
  return validation[mode] + wordGas(op) + validationCalls[mode] * perCall
}

/** Gas for postOp: what a quote names, since all of it is charged. */
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

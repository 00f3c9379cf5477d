import { greatest } from '../../base/bigints.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { TokenQuote } from '../tokenData.js'
import { maxTokenCharge } from './tokenCharge.js'
import { leastVerificationGas06, tokenPostOpGas, tokenVerificationGas } from './tokenGas.js'

/** gas that a client's approval adds to the call when it puts one in front: a batch, a new slot */
const APPROVAL_GAS = 80_000n
/** gas for the bytes of that approval and of the tank's data */
const CALLDATA_GAS = 12_000n
/** The room for a price that moves by a tenth between the quote and the signature. */
const priceRoom = { numerator: 11n, denominator: 10n }

/**
 * The smallest token units that an operation, measured without the tank, may cost with the tank and
 * with an approval in front. Clients approve this much, and the charge that is signed later must
 * fit into it. `perCall` is gas of the token, see tokenGas.ts.
 */
export function quotedCharge(
  measured: Operation,
  entryPoint: EntryPoint,
  terms: Omit<TokenQuote, 'mode' | 'postOpGas'>,
  perCall: bigint,
): bigint {
  const mode = 'afterwards'
  const postOpGas = tokenPostOpGas({ ...terms, mode }, perCall)
  const verification = tokenVerificationGas(measured, mode, perCall)
  const { hasPaymasterLimits } = entryPoint
  const shared = greatest(
    measured.verificationGasLimit + verification,
    leastVerificationGas06(postOpGas),
  )
  const op: Operation = {
    ...measured,
    callGasLimit: measured.callGasLimit + APPROVAL_GAS,
    preVerificationGas: measured.preVerificationGas + CALLDATA_GAS,
    verificationGasLimit: hasPaymasterLimits ? measured.verificationGasLimit : shared,
    paymasterVerificationGasLimit: hasPaymasterLimits ? verification : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? postOpGas : 0n,
  }
  const charge = maxTokenCharge(op, entryPoint, { ...terms, mode, postOpGas })
  return (charge * priceRoom.numerator) / priceRoom.denominator + 1n
}

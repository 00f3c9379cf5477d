import type { ValidationUse } from '../entryPoint.js'
import type { Operation } from '../operation.js'

/**
 * Gas of validation beyond what a simulation of the operation alone has shown. A storage slot that was
 * warm then may be cold in a bundle, and the EntryPoint meters a little after its last check (AA40).
 */
const VALIDATION_SLACK = 2_000n

/** The call's own costs, and 2,048 bytes of revert reason: copied, encoded and emitted (8 gas a byte). */
const CALL_AND_REASON = 26_000n

/** The second postOp, which is called when all that innerHandleOp did was undone. */
const SECOND_POST_OP = 6_000n

/**
 * Copies of a 32-byte word, and the growth of memory for them: in v0.6 no memory of a bundle is ever
 * freed, so a word costs more behind other operations.
 */
const PER_WORD = 80n

/** A word of the context: encoded in a loop for innerHandleOp and for each postOp. */
const PER_CONTEXT_WORD = 320n

/**
 * The most gas that EntryPoint v0.6 may charge the operation (see `EntryPointContract.mostCharged`):
 * - validation, which the rules of ERC-7562 hold to what was simulated;
 * - the call, which is free to use its limit in full and to revert with a long reason;
 * - with a context, two calls of postOp: the first may use its limit and fail, then the second one counts
 *   on top of it.
 */
export function mostChargedV06(
  op: Operation,
  { verificationGasUsed, contextSize }: ValidationUse,
): bigint {
  const validation = op.preVerificationGas + verificationGasUsed + VALIDATION_SLACK
  const digits =
    op.callData.length + op.signature.length + op.factoryData.length + op.paymasterData.length
  const call = op.callGasLimit + CALL_AND_REASON + words(digits / 2) * PER_WORD
  if (contextSize === 0) return validation + call
  const postOps = 2n * op.verificationGasLimit + SECOND_POST_OP
  return validation + call + postOps + words(contextSize) * PER_CONTEXT_WORD
}

function words(bytes: number): bigint {
  return BigInt(Math.ceil(bytes / 32))
}

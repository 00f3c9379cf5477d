import { greatest, smallest } from '../base/bigints.js'
import type { EntryPoint, ExecutionUse, ValidationUse } from './entryPoint.js'
import type { Fees } from './fees.js'
import type { Operation } from './operation.js'

/**
 * The highest base fee (wei per gas) at which the prefund is sure to cover the charge of an operation of
 * which the EntryPoint may charge `mostCharged` gas; above it the operation may make its whole bundle
 * revert (AA51). Negative where it may at any base fee, as v0.6 charges maxFeePerGas when both fees are
 * the same. Undefined where it never does.
 */
export function highestBaseFee(
  entryPoint: EntryPoint,
  op: Operation,
  mostCharged: bigint | undefined,
): bigint | undefined {
  if (mostCharged === undefined) return undefined
  const coveredPrice = entryPoint.requiredPrefund(op) / mostCharged
  return coveredPrice >= op.maxFeePerGas ? undefined : coveredPrice - op.maxPriorityFeePerGas
}

/**
 * wei per gas that every version charges at `baseFee`. The legacy mode of v0.6 and v0.7 (the whole
 * maximum when both fees are equal) is the same number: a tip of the maximum reaches it anyway.
 */
export function effectiveGasPrice(op: Fees, baseFee: bigint): bigint {
  const bid = op.maxPriorityFeePerGas + baseFee
  if (bid > op.maxFeePerGas) return op.maxFeePerGas
  return bid
}

/** The share of unused gas that v0.7 and later charge (UNUSED_GAS_PENALTY_PERCENT), as a divisor. */
const UNUSED_SHARE = 10n
/** Unused gas up to which v0.8 and later charge none of it (PENALTY_GAS_THRESHOLD). */
const FREE_UNUSED = 40_000n

/**
 * v0.7: of u gas used under limits of L in all, u + (L - u) / 10 are charged, so L / 10 at least. Without a
 * paymaster there is no limit of postOp.
 */
export function leastChargeOfUnused(
  op: Pick<Operation, 'callGasLimit' | 'paymaster' | 'paymasterPostOpGasLimit'>,
): bigint {
  const postOp = op.paymaster === undefined ? 0n : op.paymasterPostOpGasLimit
  return (op.callGasLimit + postOp) / UNUSED_SHARE
}

/**
 * v0.8 and later: the same of the call's limit alone, and only where more than 40,000 of it are unused. A call may
 * leave exactly these: then it used the rest. The limit of postOp counts where there is a context, which is not
 * known here.
 */
export function leastChargeAboveThreshold({
  callGasLimit,
}: Pick<Operation, 'callGasLimit'>): bigint {
  return greatest(smallest(callGasLimit / UNUSED_SHARE, callGasLimit - FREE_UNUSED), 0n)
}

/** Of u gas used under a limit of L, u + (L - u) / 10 were charged: L - u. */
function unusedOf(limit: bigint, charged: bigint): bigint {
  return greatest(((limit - charged) * UNUSED_SHARE) / (UNUSED_SHARE - 1n), 0n)
}

/** v0.7: a tenth of what the limits of call and postOp together left unused. */
export function chargeOfUnused(op: Operation, { charged }: ExecutionUse): bigint {
  const postOp = op.paymaster === undefined ? 0n : op.paymasterPostOpGasLimit
  return unusedOf(op.callGasLimit + postOp, charged) / UNUSED_SHARE
}

/**
 * v0.8 and later: a tenth of what each of the two limits left unused, where that is more than 40,000. The EntryPoint's own
 * work, a few hundred gas, counts as used by the call.
 */
export function chargeAboveThreshold(op: Operation, used: ExecutionUse): bigint {
  const { charged, call, postOp, contextSize } = used
  const unusedPostOp = op.paymasterPostOpGasLimit - postOp
  const isCharged = contextSize > 0 && unusedPostOp > FREE_UNUSED
  const ofPostOp = isCharged ? unusedPostOp / UNUSED_SHARE : 0n
  const left = charged - postOp - ofPostOp
  const unused = unusedOf(op.callGasLimit, left)
  const isBelow = unused <= FREE_UNUSED || op.callGasLimit - call <= FREE_UNUSED
  return isBelow ? ofPostOp : ofPostOp + unused / UNUSED_SHARE
}

/**
 * The charge for unused gas of a mined operation, found in its `actualGasUsed` by what its validation used at
 * admission: wrong by a ninth of what that used more or less in its bundle. From v0.8 on a call that left 40,000 or just
 * more counts as charged nothing, and postOp, whose gas is not known, as using its limit: each is wrong by at most a
 * ninth of 40,000 gas.
 */
export function minedUnusedGas(
  entryPoint: Pick<EntryPoint, 'leastExecutionCharge' | 'unusedGasCharge'>,
  op: Operation,
  { verificationGasUsed, contextSize }: ValidationUse,
  actualGasUsed: bigint,
): bigint {
  const metered = actualGasUsed - op.preVerificationGas - verificationGasUsed
  const charged = greatest(metered, entryPoint.leastExecutionCharge(op))
  const postOp = contextSize > 0 ? op.paymasterPostOpGasLimit : 0n
  return entryPoint.unusedGasCharge(op, { charged, call: charged - postOp, postOp, contextSize })
}

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

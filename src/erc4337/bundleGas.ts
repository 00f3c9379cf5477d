import type { EntryPoint } from './entryPoint.js'
import type { Operation } from './operation.js'

/** Gas of handleOps around its operations, for any beneficiary. */
export function fixedBundleGas({ gas }: Pick<EntryPoint, 'gas'>): bigint {
  const { overhead, coldBeneficiary } = gas()
  return BigInt(overhead.fixed + coldBeneficiary)
}

/** The most gas of a bundle, of a configured limit: never so much that the EntryPoint would not see state gas (EIP-8037). */
export function mostBundleGas({ gas }: Pick<EntryPoint, 'gas'>, configured: bigint): bigint {
  const { bundleCap } = gas()
  return configured > bundleCap ? BigInt(bundleCap) : configured
}

/**
 * Gas that one operation may use inside handleOps when its contracts use all they are given. The sum
 * over a bundle, with the transaction itself, calldata, the fixed overhead and its authorizations, is a
 * gas limit with which no EntryPoint check runs out of gas (AA95) and every limit is granted in
 * full. A transaction short of it is paid for by the bundler.
 */

/**
 * In addition to the call and postOp, the EntryPoint emits a revert reason of at most 2,048 bytes (8 gas a
 * byte and 1,700), the outcome (2,900), and refunds the rest (5,000). More than the 10,000 (v0.6:
 * 5,000) that it asks for as reserve, so it stands in for them.
 */
const EXECUTION = 30_000n

/** Gas for reason, outcome and refund once more when postOp reverts, outside the call that was undone. */
const POST_OP_FAILURE = 27_000n

/** Loops and calldata that no limit meters: `Overhead.perOp` of every version, rounded up. */
const UNMETERED = 9_000n

/**
 * Copying a 32-byte word of the operation into the memory of handleOps and of the inner call, up to
 * three times, with what growing memory costs in a transaction of 128 KiB.
 */
const PER_WORD = 80n

/** The selector with which the account's call gets the whole operation, which is copied once more. */
const EXECUTE_USER_OP = '0x8dd7712f'

/** v0.7 and later: every phase has its own limit. */
export function bundleGasPacked(op: Operation): bigint {
  const hasPaymaster = op.paymaster !== undefined
  const validation =
    op.verificationGasLimit + (hasPaymaster ? op.paymasterVerificationGasLimit : 0n)
  const execution = op.callGasLimit + (hasPaymaster ? op.paymasterPostOpGasLimit : 0n) + EXECUTION
  return (
    forCall(validation) +
    forCall(forCall(execution)) +
    (hasPaymaster ? POST_OP_FAILURE : 0n) +
    UNMETERED +
    copying(op)
  )
}

/**
 * v0.6: verificationGasLimit bounds validation of account and paymaster together, and each of up to
 * two postOp calls. The EntryPoint asks for the first of these as reserve even without a paymaster.
 */
export function bundleGasV06(op: Operation): bigint {
  const execution = op.callGasLimit + op.verificationGasLimit + EXECUTION
  const secondPostOp =
    op.paymaster === undefined ? 0n : forCall(op.verificationGasLimit) + POST_OP_FAILURE
  return (
    forCall(op.verificationGasLimit) +
    forCall(forCall(execution)) +
    secondPostOp +
    UNMETERED +
    copying(op)
  )
}

/** Gas needed so that a call gets `gas`: a caller keeps one part in 64 (EIP-150). */
function forCall(gas: bigint): bigint {
  return (gas * 64n) / 63n + 1n
}

function copying(op: Operation): bigint {
  const digits =
    op.callData.length + op.signature.length + op.factoryData.length + op.paymasterData.length
  const isPassedOn = op.callData.startsWith(EXECUTE_USER_OP)
  return BigInt(Math.ceil(digits / 64)) * (isPassedOn ? 2n * PER_WORD : PER_WORD)
}

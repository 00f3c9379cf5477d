import { largestOfWidth } from '../base/bigints.js'
import type { Operation } from '../entrypoint/operation.js'

/** Gas limits have at most three bytes: one transaction may use 2^24 (EIP-7825). */
const WIDEST_LIMIT = 2n ** 24n - 1n

/**
 * The operation with the most expensive calldata that can follow from an estimated one: every byte of the
 * signature is non-zero, gas limits have three non-zero bytes, and the fees keep their width with every
 * byte non-zero. Lengths, callData, paymaster and nonce stay. A signed operation thus never needs more
 * preVerificationGas than its estimate, unless its fees get wider or its bytes longer.
 */
export function widestOperation(op: Operation): Operation {
  return {
    ...op,
    callGasLimit: WIDEST_LIMIT,
    verificationGasLimit: WIDEST_LIMIT,
    preVerificationGas: WIDEST_LIMIT,
    paymasterVerificationGasLimit: op.paymasterVerificationGasLimit && WIDEST_LIMIT,
    paymasterPostOpGasLimit: op.paymasterPostOpGasLimit && WIDEST_LIMIT,
    maxFeePerGas: largestOfWidth(op.maxFeePerGas),
    maxPriorityFeePerGas: largestOfWidth(op.maxPriorityFeePerGas),
    signature: `0x${'f'.repeat(op.signature.length - 2)}`,
  }
}

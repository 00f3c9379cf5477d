import type { Operation } from '../entrypoint/operation.js'
import { placeholder, placeholderOfWidth } from './placeholder.js'

/** Gas limits have at most three bytes: one transaction may use 2^24 (EIP-7825). */
const LIMIT_BYTES = 3

function widestLimit(place: number): bigint {
  return BigInt(placeholder(LIMIT_BYTES, place))
}

/**
 * The operation with the most expensive calldata that can follow from an estimated one: every byte of the
 * signature is non-zero, gas limits have three non-zero bytes, and the fees keep their width with every
 * byte non-zero. No compressor makes these bytes shorter, as it would a dummy signature. Lengths, callData, paymaster and nonce stay. A signed operation thus never needs more
 * preVerificationGas than its estimate, unless its fees get wider or its bytes longer.
 */
export function widestOperation(op: Operation): Operation {
  return {
    ...op,
    callGasLimit: widestLimit(21),
    verificationGasLimit: widestLimit(22),
    preVerificationGas: widestLimit(23),
    paymasterVerificationGasLimit: op.paymasterVerificationGasLimit && widestLimit(24),
    paymasterPostOpGasLimit: op.paymasterPostOpGasLimit && widestLimit(25),
    maxFeePerGas: placeholderOfWidth(op.maxFeePerGas, 26),
    maxPriorityFeePerGas: placeholderOfWidth(op.maxPriorityFeePerGas, 27),
    signature: placeholder((op.signature.length - 2) / 2, 28),
  }
}

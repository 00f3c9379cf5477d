import type { Hex } from 'viem'
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
    signature: widestSignature(op.signature),
  }
}

/** The bytes of an ECDSA signature. */
const ECDSA_BYTES = 65

/**
 * The dearest signature for which a dummy may stand. A dummy shorter than an ECDSA signature stands for one
 * (MetaMask's has 64 bytes); none at all is for accounts that need none.
 */
function widestSignature(dummy: Hex): Hex {
  const length = (dummy.length - 2) / 2
  return placeholder(length === 0 ? 0 : Math.max(length, ECDSA_BYTES), 28)
}

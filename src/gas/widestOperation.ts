import type { Hex } from 'viem'
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
  return `0x${'ff'.repeat(length === 0 ? 0 : Math.max(length, ECDSA_BYTES))}`
}

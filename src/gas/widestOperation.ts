import type { Hex } from 'viem'
import type { Operation } from '../entrypoint/operation.js'

/** Gas limits below 2^24 have three bytes: the most one transaction may use (EIP-7825). */
const GAS_LIMIT_BYTES = 3

/**
 * The operation with the most expensive calldata that can follow from an estimated one: every byte of the
 * signature is non-zero, gas limits have three non-zero bytes, and the fees keep their width with every
 * byte non-zero. Lengths, callData, paymaster and nonce stay. A signed operation thus never needs more
 * preVerificationGas than its estimate, unless its fees get wider or its bytes longer.
 */
export function widestOperation(op: Operation): Operation {
  const gas = filled(GAS_LIMIT_BYTES)
  return {
    ...op,
    callGasLimit: gas,
    verificationGasLimit: gas,
    preVerificationGas: gas,
    paymasterVerificationGasLimit: op.paymasterVerificationGasLimit && gas,
    paymasterPostOpGasLimit: op.paymasterPostOpGasLimit && gas,
    maxFeePerGas: filled(width(op.maxFeePerGas)),
    maxPriorityFeePerGas: filled(width(op.maxPriorityFeePerGas)),
    signature: widestSignature(op.signature),
  }
}

function width(value: bigint): number {
  return value === 0n ? 0 : Math.ceil(value.toString(16).length / 2)
}

function filled(bytes: number): bigint {
  return 256n ** BigInt(bytes) - 1n
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

import type { Hex } from 'viem'
import type { Operation } from '../erc4337/operation.js'

/**
 * Bytes that stand in for those which nobody knows yet, such as a signature: none of them is zero, and no
 * compressor makes them shorter, so that they cost at least as much as any others. The same for
 * ever, so that an estimate repeats; different `place`s get different bytes.
 */
export function placeholder(length: number, place: number): Hex {
  let state = (place * 0x9e37_79b9 + 0x7f4a_7c15) >>> 0
  let hex = ''
  for (let at = 0; at < length; at++) {
    // The xorshift generator of 32 bits.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    hex += (1 + ((state >>> 8) % 255)).toString(16).padStart(2, '0')
  }
  return `0x${hex}`
}

/** A number of as many bytes as `value` has, none of them zero. */
export function placeholderOfWidth(value: bigint, place: number): bigint {
  const bytes = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2)
  return bytes === 0 ? 0n : BigInt(placeholder(bytes, place))
}

/**
 * A signature of no known key, to estimate with: an address can be recovered from it, so checking
 * it costs the gas of a real one, and no byte is zero, so its calldata costs at least as much.
 */
export const stubSignature: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

/**
 * Data of a paymaster with bytes that no compressor makes shorter. Where one stub signature stands in them, they are
 * those of a tank of ours, and only the signature is unknown; any byte of other data may change.
 */
export function widestPaymasterData(data: Hex): Hex {
  const [before, after, ...more] = data.split(stubSignature.slice(2))
  return before === undefined || after === undefined || more.length > 0
    ? placeholder((data.length - 2) / 2, 9)
    : `${before as Hex}${placeholder(ECDSA_BYTES, 9).slice(2)}${after}`
}

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
 * The most expensive signature for which a dummy may stand. A dummy shorter than an ECDSA signature stands for one
 * (MetaMask's has 64 bytes); none at all is for accounts that need none.
 */
function widestSignature(dummy: Hex): Hex {
  const length = (dummy.length - 2) / 2
  return placeholder(length === 0 ? 0 : Math.max(length, ECDSA_BYTES), 28)
}

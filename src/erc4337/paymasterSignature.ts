import type { Hex } from 'viem'
import { OperationLimitError } from '../base/errors/operationErrors.js'

/** First 8 bytes of keccak("PaymasterSignature"), the end of a paymasterAndData that is signed late. */
const MAGIC = '22e325a297439656'

/** Bytes of length and magic behind the signature. */
const SUFFIX = 10

/**
 * paymasterData of v0.9 with a signature of the paymaster that the account's does not cover, so
 * that both may sign in either order (`paymasterSignature` in JSON).
 */
export function joinPaymasterSignature(data: Hex, signature: Hex): Hex {
  const length = ((signature.length - 2) / 2).toString(16).padStart(4, '0')
  return `${data}${signature.slice(2)}${length}${MAGIC}`
}

/** The reverse; undefined when the data carries no such signature. */
export function splitPaymasterSignature(
  paymasterData: Hex,
): { readonly data: Hex; readonly signature: Hex } | undefined {
  if (!paymasterData.endsWith(MAGIC)) return undefined
  const length = Number.parseInt(paymasterData.slice(-2 * SUFFIX, -MAGIC.length), 16)
  const size = paymasterData.length / 2 - 1
  if (!(length > 0 && length <= size - SUFFIX)) return undefined
  const at = paymasterData.length - 2 * (length + SUFFIX)
  return {
    data: paymasterData.slice(0, at) as Hex,
    signature: `0x${paymasterData.slice(at, -2 * SUFFIX)}`,
  }
}

/** Paymaster, two gas limits, length and magic: 20 + 16 + 16 + 2 + 8 bytes. */
const SHORTEST = 62

/**
 * The `paymasterAndData` that v0.9 hashes, as hex digits. A paymaster may sign after the user: its
 * signature, with 2 bytes of length and the magic behind it, is left out except for the magic.
 */
export function hashedPaymasterAndData(paymasterAndData: string): string {
  const size = paymasterAndData.length / 2
  if (size < SHORTEST || !paymasterAndData.endsWith(MAGIC)) return paymasterAndData
  const length = Number.parseInt(paymasterAndData.slice(-20, -16), 16)
  if (length === 0) return paymasterAndData
  if (length > size - SHORTEST) {
    throw new OperationLimitError(
      'paymasterData',
      `ends in a paymaster signature of ${length} bytes, but has only ${size - SHORTEST} before its suffix`,
    )
  }
  return paymasterAndData.slice(0, -2 * (length + SUFFIX)) + MAGIC
}

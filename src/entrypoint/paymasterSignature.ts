import { OperationLimitError } from '../errors/operationErrors.js'

/** First 8 bytes of keccak("PaymasterSignature"), the end of a paymasterAndData that is signed late. */
const MAGIC = '22e325a297439656'

/** Paymaster, two gas limits, length and magic: 20 + 16 + 16 + 2 + 8 bytes. */
const SHORTEST = 62

/**
 * The `paymasterAndData` that v0.9 hashes, as hex digits. A paymaster may sign after the user: its
 * signature, with 2 bytes of length and the magic behind it, is left out except for the magic.
 */
export const hashedPaymasterAndData = (paymasterAndData: string): string => {
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
  return paymasterAndData.slice(0, -2 * (length + 10)) + MAGIC
}

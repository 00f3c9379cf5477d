import type { Hex } from 'viem'
import { digits } from '../../erc4337/encoding/abiWriter.js'
import { joinPaymasterSignature } from '../../erc4337/paymasterSignature.js'
import type { TimeRange } from '../../erc4337/validationData.js'

/** The content of a tank's paymasterData. Unix seconds; validUntil 0 = without end. */
type TankData = TimeRange & { readonly signature: Hex }

/** Hex digits of a time and of a signature. */
export const TIME_DIGITS = 12
export const SIGNATURE_DIGITS = 130

/**
 * A time of 48 bits in seconds, as 12 hex digits. Throws RangeError for a time that does not fit.
 */
function timeDigits(seconds: number): string {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds >= 2 ** 48) {
    throw new RangeError(`A time must be whole seconds that fit 48 bits, not ${seconds}.`)
  }
  return seconds.toString(16).padStart(TIME_DIGITS, '0')
}

export function timeWord(seconds: number): string {
  return timeDigits(seconds).padStart(64, '0')
}

/**
 * The paymasterData of a tank, the same for every EntryPoint version: validUntil(6) | validAfter(6)
 * | signature(65). Throws RangeError for a value that does not fit.
 */
export function encodeTankData({ validUntil, validAfter }: TimeRange, signature: Hex): Hex {
  if (signature.length !== 2 + SIGNATURE_DIGITS) {
    throw new RangeError('A tank signature has 65 bytes.')
  }
  return `0x${timeDigits(validUntil)}${timeDigits(validAfter)}${digits(signature)}`
}

/**
 * The paymasterData of a tank on v0.9 that may sign after the account: the same bytes, with the
 * suffix by which the EntryPoint leaves the signature out of the userOpHash.
 */
export function encodeLateTankData(range: TimeRange, signature: Hex): Hex {
  const times = encodeTankData(range, signature).slice(0, 2 + 2 * TIME_DIGITS) as Hex
  return joinPaymasterSignature(times, signature)
}

/** The reverse of encodeTankData; undefined for bytes of a length that the tank would refuse. */
export function parseTankData(paymasterData: Hex): TankData | undefined {
  if (paymasterData.length !== 2 + 2 * TIME_DIGITS + SIGNATURE_DIGITS) return undefined
  const validAfterAt = 2 + TIME_DIGITS
  const signatureAt = validAfterAt + TIME_DIGITS
  return {
    validUntil: Number.parseInt(paymasterData.slice(2, validAfterAt), 16),
    validAfter: Number.parseInt(paymasterData.slice(validAfterAt, signatureAt), 16),
    signature: `0x${paymasterData.slice(signatureAt)}`,
  }
}

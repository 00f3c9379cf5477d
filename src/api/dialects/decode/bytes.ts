import type { Address, Hex } from 'viem'
import { InvalidParamsError } from '../../../errors/requestErrors.js'

/** Bytes that call data, init code or code of a state override may have (EIP-3860 is below it). */
export const MAX_CODE_BYTES = 128 * 1024
/** Bytes that a signature or paymaster data may have. */
export const MAX_PROOF_BYTES = 32 * 1024

/** Bytes as lower-case hex with whole bytes. `field` is the path for the error. */
export function decodeBytes(value: unknown, field: string, maxBytes: number): Hex {
  if (value === undefined) throw new InvalidParamsError(field, 'is missing.')
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/i.test(value))
    throw new InvalidParamsError(field, 'must be a hex string that starts with 0x.')
  if (value.length % 2 === 1)
    throw new InvalidParamsError(field, 'must hold whole bytes: it has an odd number of digits.')
  if (value.length > 2 + 2 * maxBytes)
    throw new InvalidParamsError(field, `is longer than ${maxBytes} bytes.`)
  return value.toLowerCase() as Hex
}

/** Bytes as decodeBytes reads them; missing is `0x`. */
export function decodeOptionalBytes(value: unknown, field: string, maxBytes: number): Hex {
  return value === undefined ? '0x' : decodeBytes(value, field, maxBytes)
}

/** An address in lower case. Any case is taken: clients send both, so checksums are not enforced. */
export function decodeAddress(value: unknown, field: string): Address {
  if (value === undefined || value === null) throw new InvalidParamsError(field, 'is missing.')
  if (typeof value !== 'string' || !/^0x[0-9a-f]{40}$/i.test(value))
    throw new InvalidParamsError(field, 'must be an address: 0x and 40 hex digits.')
  return value.toLowerCase() as Address
}

/** A 32-byte word; shorter hex is padded on the left. */
export function decodeWord(value: unknown, field: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{1,64}$/i.test(value))
    throw new InvalidParamsError(field, 'must be a hex string of at most 32 bytes.')
  return `0x${value.slice(2).toLowerCase().padStart(64, '0')}`
}

/** A userOpHash. */
export function decodeHash(value: unknown, field: string): Hex {
  if (typeof value !== 'string' || !/^0x[0-9a-f]{64}$/i.test(value))
    throw new InvalidParamsError(field, 'Missing/invalid userOpHash: 0x and 64 hex digits are due.')
  return value.toLowerCase() as Hex
}

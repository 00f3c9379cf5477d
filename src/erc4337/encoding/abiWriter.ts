import type { Address, Hex } from 'viem'
import { OperationLimitError } from '../../base/errors/operationErrors.js'

/**
 * ABI encoding for the few shapes an EntryPoint takes, as hex text without `0x`: text is what the
 * JSON-RPC edge gives and takes, and joining it costs a tenth of a general encoder.
 */

/** Static words, the content of a `bytes` field, or a dynamic tuple or array already encoded. */
type Field = string | { readonly bytes: string } | { readonly encoded: string }

/**
 * `value` as a big-endian unsigned integer of `bits` bits, in hex.
 * Throws OperationLimitError naming `field` when it does not fit.
 */
export function uint(value: bigint, bits: 128 | 256, field: string): string {
  if (value < 0n || value >> BigInt(bits) !== 0n) {
    throw new OperationLimitError(field, `must be an unsigned integer of at most ${bits} bits`)
  }
  return value.toString(16).padStart(bits / 4, '0')
}

export function uintWord(value: bigint, field: string): string {
  return uint(value, 256, field)
}

export function addressWord(address: Address): string {
  return `000000000000000000000000${digits(address)}`
}

/** The hex digits of `hex`, without its `0x`. */
export function digits(hex: Hex): string {
  return hex.slice(2)
}

function lengthWord(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/** Encodes a tuple (or argument list): heads first, then the tails they point to. */
export function encodeTuple(fields: readonly Field[]): string {
  let headSize = 0
  for (const field of fields) headSize += typeof field === 'string' ? field.length / 2 : 32
  let head = ''
  let tail = ''
  for (const field of fields) {
    if (typeof field === 'string') {
      head += field
    } else {
      head += lengthWord(headSize + tail.length / 2)
      tail += 'encoded' in field ? field.encoded : encodeBytes(field.bytes)
    }
  }
  return head + tail
}

function encodeBytes(bytes: string): string {
  const padding = (64 - (bytes.length % 64)) % 64
  return lengthWord(bytes.length / 2) + bytes + '0'.repeat(padding)
}

/** Encodes the content of an array of dynamic tuples: length, offsets, tuples. */
export function encodeTuples(tuples: readonly string[]): string {
  let offsets = ''
  let position = tuples.length * 32
  for (const tuple of tuples) {
    offsets += lengthWord(position)
    position += tuple.length / 2
  }
  return lengthWord(tuples.length) + offsets + tuples.join('')
}

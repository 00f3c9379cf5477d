import type { Hex } from 'viem'

/** Lower-case 0x hex of bytes. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}

/** Bytes of 0x hex, as a plain Uint8Array (never a Buffer, so that hot code sees one class). */
export function fromHex(hex: Hex): Uint8Array {
  return new Uint8Array(Buffer.from(hex.slice(2), 'hex'))
}

/** Big-endian bytes of a word as bigint. */
export function toBigInt(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(toHex(bytes))
}

/** `size` big-endian bytes of `value`; higher bits are cut off. */
export function toBytes(value: bigint, size: number): Uint8Array {
  const digits = BigInt.asUintN(size * 8, value)
    .toString(16)
    .padStart(size * 2, '0')
  return new Uint8Array(Buffer.from(digits, 'hex'))
}

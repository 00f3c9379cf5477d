import type { Hex } from 'viem'
import { hexToBigInt } from 'viem/utils'

/** Order of the curve secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/**
 * The two numbers of an ECDSA signature in DER: SEQUENCE of two INTEGERs (RFC 3279). `s` comes back
 * in the lower half of the order: a signer may give either, a transaction may only have the lower.
 * @throws Error when it is no such signature of secp256k1
 */
export function readDerSignature(der: Uint8Array): { readonly r: bigint; readonly s: bigint } {
  const body = readElement(der, 0, SEQUENCE)
  if (body.end !== der.length) throw malformed()
  const first = readElement(der, body.start, INTEGER)
  const second = readElement(der, first.end, INTEGER)
  if (second.end !== body.end) throw malformed()
  const r = readNumber(der.subarray(first.start, first.end))
  const s = readNumber(der.subarray(second.start, second.end))
  return { r, s: s > ORDER / 2n ? ORDER - s : s }
}

const SEQUENCE = 0x30
const INTEGER = 0x02

/** Begin and end of the content of the element at `at`, which is at most 127 bytes long. */
function readElement(
  der: Uint8Array,
  at: number,
  tag: number,
): { readonly start: number; readonly end: number } {
  const length = der[at + 1]
  if (der[at] !== tag || length === undefined || length > 127) throw malformed()
  const start = at + 2
  const end = start + length
  if (end > der.length) throw malformed()
  return { start, end }
}

function readNumber(content: Uint8Array): bigint {
  const [first = 0x80] = content
  if (first & 0x80 || content.length > 33) throw malformed()
  const value = hexToBigInt(`0x${Buffer.from(content).toString('hex')}`)
  if (value === 0n || value >= ORDER) throw malformed()
  return value
}

/** DER of a SubjectPublicKeyInfo up to the key: id-ecPublicKey, secp256k1, BIT STRING (RFC 5480). */
const KEY_HEADER = '3056301006072a8648ce3d020106052b8104000a034200'

/**
 * The uncompressed key (65 bytes) in a SubjectPublicKeyInfo of secp256k1.
 * @throws Error when it is another kind of key
 */
export function readDerPublicKey(der: Uint8Array): Hex {
  const text = Buffer.from(der).toString('hex')
  const key = text.slice(KEY_HEADER.length)
  if (!text.startsWith(KEY_HEADER) || !/^04[0-9a-f]{128}$/.test(key))
    throw new Error('the public key is not one of the curve secp256k1')
  return `0x${key}`
}

function malformed(): Error {
  return new Error('the signature is no ECDSA signature in DER')
}

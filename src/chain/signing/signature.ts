import { createPublicKey, type KeyObject } from 'node:crypto'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import type { Address, Hex } from 'viem'
import { publicKeyToAddress } from 'viem/accounts'
import { numberToHex, recoverAddress } from 'viem/utils'
import type { EcdsaSignature } from './executorTransaction.js'

/** The numbers of an ECDSA signature as a key service gives them: `s` in either half of the order. */
export type SignatureNumbers = { readonly r: bigint; readonly s: bigint }

/**
 * The signature of `hash` by `address` with these numbers, undefined when another key or other bytes were signed.
 * A transaction may only have the lower `s` (EIP-2), and services do not say, or say wrongly, which of the two keys
 * that fit a signature is theirs: both follow from the address.
 */
export async function toSignature(
  address: Address,
  hash: Hex,
  numbers: SignatureNumbers,
): Promise<EcdsaSignature | undefined> {
  const { ORDER } = secp256k1.Point.Fn
  const isInRange = [numbers.r, numbers.s].every((number) => number > 0n && number < ORDER)
  if (!isInRange) return undefined
  const low = numbers.s > ORDER / 2n ? ORDER - numbers.s : numbers.s
  const [r, s] = [numberToHex(numbers.r, { size: 32 }), numberToHex(low, { size: 32 })]
  for (const yParity of [0, 1] as const) {
    const signature = { r, s, yParity }
    const signer = await recoverAddress({ hash, signature }).catch(() => undefined)
    if (signer?.toLowerCase() === address.toLowerCase()) return signature
  }
  return undefined
}

/**
 * The two numbers of an ECDSA signature in DER (RFC 3279).
 * @throws Error when it is no such signature of secp256k1
 */
export function readDerSignature(der: Uint8Array): SignatureNumbers {
  try {
    const { r, s } = secp256k1.Signature.fromBytes(der, 'der')
    return { r, s }
  } catch (cause) {
    throw new Error('the signature is no ECDSA signature in DER', { cause })
  }
}

/**
 * The two numbers at the beginning of a signature of 64 bytes, or 65 with a recovery id.
 * @throws Error when it has another length
 */
export function readPlainSignature(bytes: Uint8Array): SignatureNumbers {
  if (bytes.length !== 64 && bytes.length !== 65)
    throw new Error('the signature does not have 64 or 65 bytes')
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32, 64)].map((half) =>
    BigInt(`0x${Buffer.from(half).toString('hex')}`),
  ) as [bigint, bigint]
  return { r, s }
}

/**
 * The address of a public key, given as for `createPublicKey`.
 * @throws Error when it is no key of secp256k1
 */
export function addressOfKey(key: Parameters<typeof createPublicKey>[0]): Address {
  const { crv, x, y } = readKey(key).export({ format: 'jwk' })
  if (crv !== 'secp256k1' || x === undefined || y === undefined)
    throw new Error('the public key is not one of the curve secp256k1')
  const hex = [x, y].map((part) => Buffer.from(part, 'base64url').toString('hex').padStart(64, '0'))
  return publicKeyToAddress(`0x04${hex.join('')}`).toLowerCase() as Address
}

function readKey(key: Parameters<typeof createPublicKey>[0]): KeyObject {
  try {
    return createPublicKey(key)
  } catch (cause) {
    throw new Error('the public key cannot be read', { cause })
  }
}

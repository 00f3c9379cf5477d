import { createRequire } from 'node:module'
import type { Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { bytesToHex, hexToBytes } from 'viem/utils'
import { createSigner, type ExecutorSigner } from './executorTransaction.js'

/** Signs with a private key in this process. */
export function localSigner(privateKey: Hex): ExecutorSigner {
  const key = hexToBytes(privateKey)
  return createSigner(privateKeyToAddress(privateKey), async (hash) => {
    const { signature, recoveryId } = signHash(hexToBytes(hash), key)
    const [r, s] = [signature.subarray(0, 32), signature.subarray(32)].map((half) =>
      bytesToHex(half),
    ) as [Hex, Hex]
    return { r, s, yParity: recoveryId }
  })
}

/** r and s in 64 bytes, s in the lower half, and the parity of the point (EIP-2098). */
type RecoverableSignature = {
  readonly signature: Uint8Array
  readonly recoveryId: 0 | 1
}

/** Signs 32 bytes with a private key on secp256k1 (RFC 6979). Throws for a key that is none. */
type SignHash = (hash: Uint8Array, key: Uint8Array) => RecoverableSignature

type NativeBinding = {
  ecdsaSign(
    hash: Uint8Array,
    key: Uint8Array,
  ): { readonly signature: Uint8Array; readonly recid: number }
}

function toParity(recoveryId: number): 0 | 1 {
  return recoveryId % 2 === 0 ? 0 : 1
}

/** Native code, 0.04 ms a signature; undefined where its binary does not load. */
export function nativeSignHash(): SignHash | undefined {
  let native: NativeBinding
  try {
    native = createRequire(import.meta.url)('secp256k1/bindings')
  } catch {
    return undefined
  }
  return (hash, key) => {
    const { signature, recid } = native.ecdsaSign(hash, key)
    return { signature, recoveryId: toParity(recid) }
  }
}

/** WebAssembly, 0.1 ms a signature; runs everywhere. */
export async function portableSignHash(): Promise<SignHash> {
  const { signRecoverable } = await import('tiny-secp256k1')
  return (hash, key) => {
    const { signature, recoveryId } = signRecoverable(hash, key)
    return { signature, recoveryId: toParity(recoveryId) }
  }
}

export const signHash: SignHash = nativeSignHash() ?? (await portableSignHash())

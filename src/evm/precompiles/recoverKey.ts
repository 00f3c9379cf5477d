import { createRequire } from 'node:module'

/** Recovers the 64-byte public key of an ECDSA signature over secp256k1; undefined if there is none. */
type RecoverKey = (
  hash: Uint8Array,
  signature: Uint8Array,
  recoveryId: 0 | 1,
) => Uint8Array | undefined

type NativeBinding = {
  ecdsaRecover(
    signature: Uint8Array,
    recoveryId: number,
    hash: Uint8Array,
    compressed: boolean,
  ): Uint8Array
}

/** Native code, 0.04 ms a recovery; undefined where its binary does not load. */
export function nativeRecoverKey(): RecoverKey | undefined {
  let native: NativeBinding
  try {
    native = createRequire(import.meta.url)('secp256k1/bindings')
  } catch {
    return undefined
  }
  return (hash, signature, recoveryId) => {
    try {
      return native.ecdsaRecover(signature, recoveryId, hash, false).subarray(1)
    } catch {
      return undefined
    }
  }
}

/** WebAssembly, 0.2 ms a recovery; runs everywhere. */
export async function portableRecoverKey(): Promise<RecoverKey> {
  const { recover } = await import('tiny-secp256k1')
  return (hash, signature, recoveryId) => {
    try {
      return recover(hash, signature, recoveryId, false)?.subarray(1)
    } catch {
      return undefined
    }
  }
}

export const recoverKey: RecoverKey = nativeRecoverKey() ?? (await portableRecoverKey())

import { keccak } from '../bytes/keccak.js'
import { bytesAt, isZero } from './input.js'
import type { Precompile } from './precompile.js'
import { recoverKey } from './recoverKey.js'

const noOutput = new Uint8Array(0)

/** 0x01: the signer's address, or empty output. */
export const ecrecover: Precompile = {
  gas: () => 3000,
  stepsPerGas: 0.7,
  run: (input) => {
    const call = bytesAt(input, 0, 128)
    const v = call[63]!
    if (!isZero(call.subarray(32, 63)) || (v !== 27 && v !== 28)) return noOutput
    const signer = addressOfSigner(call.slice(0, 32), call.slice(64, 128), v === 27 ? 0 : 1)
    if (signer === undefined) return noOutput
    const output = new Uint8Array(32)
    output.set(signer, 12)
    return output
  },
}

/** The 20 address bytes of the signer of `hash`. */
export function addressOfSigner(
  hash: Uint8Array,
  signature: Uint8Array,
  recoveryId: 0 | 1,
): Uint8Array | undefined {
  const key = recoverKey(hash, signature, recoveryId)
  return key === undefined ? undefined : keccak(key).subarray(12)
}

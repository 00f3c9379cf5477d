import { keccak } from '../bytes/keccak.js'
import { bytesAt, isZero, type Precompile } from './precompile.js'
import { recoverKey } from './recoverKey.js'

const noOutput = new Uint8Array(0)

/** Outputs that are remembered: an operation's signature is recovered at admission and again for its bundle. */
const MOST_KNOWN = 4_000
/** By input, the oldest first. */
const known = new Map<string, Uint8Array>()

/** 0x01: the signer's address, or empty output. */
export const ecrecover: Precompile = {
  gas: () => 3000,
  stepsPerGas: 0.7,
  run: (input) => {
    const call = bytesAt(input, 0, 128)
    const v = call[63]!
    if (!isZero(call.subarray(32, 63)) || (v !== 27 && v !== 28)) return noOutput
    const key = Buffer.from(call.buffer, call.byteOffset, call.length).toString('latin1')
    const output = known.get(key) ?? recover(call, v === 27 ? 0 : 1)
    remember(key, output)
    return output.slice()
  },
}

function recover(call: Uint8Array, recoveryId: 0 | 1): Uint8Array {
  const signer = addressOfSigner(call.slice(0, 32), call.slice(64, 128), recoveryId)
  if (signer === undefined) return noOutput
  const output = new Uint8Array(32)
  output.set(signer, 12)
  return output
}

function remember(key: string, output: Uint8Array): void {
  if (known.has(key)) return
  const [oldest] = known.size < MOST_KNOWN ? [] : known.keys()
  if (oldest !== undefined) known.delete(oldest)
  known.set(key, output)
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

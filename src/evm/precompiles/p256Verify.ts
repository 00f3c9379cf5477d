import { p256 } from '@noble/curves/nist.js'
import type { Precompile } from './precompile.js'

const SIZE = 160
const noOutput = new Uint8Array(0)

function run(input: Uint8Array): Uint8Array {
  if (input.length !== SIZE || !verifies(input)) return noOutput
  const output = new Uint8Array(32)
  output[31] = 1
  return output
}

function verifies(input: Uint8Array): boolean {
  const hash = input.slice(0, 32)
  const signature = input.slice(32, 96)
  const key = new Uint8Array(65)
  key[0] = 0x04
  key.set(input.subarray(96), 1)
  try {
    return p256.verify(signature, hash, key, { prehash: false, lowS: false })
  } catch {
    return false
  }
}

/** 0x0100 (EIP-7951): whether an ECDSA signature over P-256 is valid. */
export const p256Verify: Precompile = { gas: () => 6900, stepsPerGas: 13, run }

/** 0x0100 with the price of RIP-7212, as rollups offered it before Osaka. */
export const p256VerifyRip7212: Precompile = { gas: () => 3450, stepsPerGas: 26, run }

import { createHash } from 'node:crypto'
import { wordCount } from '../gasCosts.js'
import type { Precompile } from './precompile.js'

/** 0x02 */
export const sha256: Precompile = {
  gas: (input) => 60 + 12 * wordCount(input.length),
  stepsPerGas: 1,
  run: (input) => new Uint8Array(createHash('sha256').update(input).digest()),
}

/** 0x03; the 20-byte hash fills the low end of a word. */
export const ripemd160: Precompile = {
  gas: (input) => 600 + 120 * wordCount(input.length),
  stepsPerGas: 1,
  run: (input) => {
    const output = new Uint8Array(32)
    output.set(createHash('ripemd160').update(input).digest(), 12)
    return output
  },
}

/** 0x04 */
export const identity: Precompile = {
  gas: (input) => 15 + 3 * wordCount(input.length),
  stepsPerGas: 1,
  run: (input) => input.slice(),
}

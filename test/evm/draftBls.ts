import {
  blsG1Add,
  blsG1Msm,
  blsG2Add,
  blsG2Msm,
  blsMapFp2ToG2,
  blsMapFpToG1,
  blsPairing,
} from '../../src/evm/precompiles/bls12381.js'
import type { Precompile } from '../../src/evm/precompiles/precompile.js'

/** Discounts of the draft for the two numbers of terms that the vectors use. */
const DISCOUNTS: Readonly<Record<number, number>> = { 16: 334, 72: 216 }

function fixed(precompile: Precompile, gas: number): Precompile {
  return { ...precompile, gas: () => gas }
}

function multi(precompile: Precompile, term: number, gas: number): Precompile {
  return {
    ...precompile,
    gas: ({ length }) => {
      const terms = length / term
      const discount = DISCOUNTS[terms]
      if (discount === undefined) throw new Error(`no draft discount for ${terms} terms`)
      return Math.floor((terms * gas * discount) / 1000)
    },
  }
}

/** The single multiplications of the draft, which the final EIP-2537 folded into the sums. */
function single(precompile: Precompile, size: number, gas: number): Precompile {
  return {
    ...fixed(precompile, gas),
    run: (input) => (input.length === size ? precompile.run(input) : undefined),
  }
}

/**
 * The official vectors of EIP-2537 are of a draft: other addresses, other prices, same arithmetic.
 * These are our final precompiles at the draft's addresses and prices.
 */
export const DRAFT_BLS: ReadonlyMap<number, Precompile> = new Map([
  [0x0b, fixed(blsG1Add, 500)],
  [0x0c, single(blsG1Msm, 160, 12_000)],
  [0x0d, multi(blsG1Msm, 160, 12_000)],
  [0x0e, fixed(blsG2Add, 800)],
  [0x0f, single(blsG2Msm, 288, 45_000)],
  [0x10, multi(blsG2Msm, 288, 45_000)],
  [
    0x11,
    { ...blsPairing, gas: ({ length }: Uint8Array) => 65_000 + 43_000 * Math.floor(length / 384) },
  ],
  [0x12, fixed(blsMapFpToG1, 5500)],
  [0x13, fixed(blsMapFp2ToG2, 75_000)],
])

import { type Fork, forks, includesFork } from '../forks.js'
import { blake2f } from './blake2f.js'
import {
  blsG1Add,
  blsG1Msm,
  blsG2Add,
  blsG2Msm,
  blsMapFp2ToG2,
  blsMapFpToG1,
  blsPairing,
} from './bls12381.js'
import { bn254Add, bn254Multiply, bn254Pairing } from './bn254.js'
import { ecrecover } from './ecrecover.js'
import { identity, ripemd160, sha256 } from './hashes.js'
import { modexp, modexpOsaka } from './modexp.js'
import { p256Verify } from './p256Verify.js'
import { pointEvaluation } from './pointEvaluation.js'
import type { Precompile } from './precompile.js'

export type { Precompile } from './precompile.js'

type Row = [address: number, precompile: Precompile, since: Fork]

const precompileRows: Row[] = [
  [0x01, ecrecover, 'shanghai'],
  [0x02, sha256, 'shanghai'],
  [0x03, ripemd160, 'shanghai'],
  [0x04, identity, 'shanghai'],
  [0x05, modexp, 'shanghai'],
  [0x06, bn254Add, 'shanghai'],
  [0x07, bn254Multiply, 'shanghai'],
  [0x08, bn254Pairing, 'shanghai'],
  [0x09, blake2f, 'shanghai'],
  [0x0a, pointEvaluation, 'cancun'],
  [0x0b, blsG1Add, 'prague'],
  [0x0c, blsG1Msm, 'prague'],
  [0x0d, blsG2Add, 'prague'],
  [0x0e, blsG2Msm, 'prague'],
  [0x0f, blsPairing, 'prague'],
  [0x10, blsMapFpToG1, 'prague'],
  [0x11, blsMapFp2ToG2, 'prague'],
  [0x05, modexpOsaka, 'osaka'],
  [0x100, p256Verify, 'osaka'],
]

const tables = new Map(
  forks.map((fork) => {
    const rows = precompileRows.filter(([, , since]) => includesFork(fork, since))
    return [fork, new Map(rows.map(([address, precompile]) => [address, precompile]))]
  }),
)

/** The precompiles of a fork by address; a later row replaces an earlier one. */
export function precompilesOf(fork: Fork): ReadonlyMap<number, Precompile> {
  return tables.get(fork)!
}

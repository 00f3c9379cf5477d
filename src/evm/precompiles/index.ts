import { FORKS, type Fork, includesFork } from '../forks.js'
import { ecrecover } from './ecrecover.js'
import { identity, ripemd160, sha256 } from './hashes.js'
import type { Precompile } from './precompile.js'

export type { Precompile } from './precompile.js'

type Row = [address: number, precompile: Precompile, since: Fork]

const ROWS: Row[] = [
  [0x01, ecrecover, 'shanghai'],
  [0x02, sha256, 'shanghai'],
  [0x03, ripemd160, 'shanghai'],
  [0x04, identity, 'shanghai'],
]

const tables = new Map(
  FORKS.map((fork) => {
    const rows = ROWS.filter(([, , since]) => includesFork(fork, since))
    return [fork, new Map(rows.map(([address, precompile]) => [address, precompile]))]
  }),
)

/** The precompiles of a fork by address; a later row replaces an earlier one. */
export function precompilesOf(fork: Fork): ReadonlyMap<number, Precompile> {
  return tables.get(fork)!
}

import type { Address } from 'viem'
import type { Fork } from '../evm/index.js'
import type { EntryPoint, EntryPointContract } from './entryPoint.js'
import { type ForkGas, forkGas } from './forkGas.js'
import type { Operation } from './operation.js'
import { type Version, versionFacts } from './versionFacts.js'
import { createEntryPointV06 } from './versions/v06.js'
import { createEntryPointV07 } from './versions/v07.js'
import { createEntryPointV08 } from './versions/v08.js'
import { createEntryPointV09 } from './versions/v09.js'

const creators: Readonly<Record<Version, (address: Address) => EntryPointContract>> = {
  '0.6': createEntryPointV06,
  '0.7': createEntryPointV07,
  '0.8': createEntryPointV08,
  '0.9': createEntryPointV09,
}

/**
 * The EntryPoint contract of `version` at `address`. `forks` names the rules by which bundles cost what they do, now: those
 * of one fork, or of two while either may hold.
 */
export function createEntryPoint(
  version: Version,
  address: Address,
  forks: () => readonly Fork[] = () => ['osaka'],
): EntryPoint {
  const contract = creators[version](`0x${address.slice(2).toLowerCase()}`)
  const gas = () => forkGas(version, forks())
  return {
    ...versionFacts[version],
    ...contract,
    version,
    gas,
    bundleGas: (op) => contract.bundleGas(op) + depositReserve(gas(), op),
  }
}

/** The rest that a sender without deposit gets, which may be new state, inside two calls that keep one part in 64 each. */
function depositReserve(
  { newDeposit, write }: ForkGas,
  { paymaster }: Pick<Operation, 'paymaster'>,
): bigint {
  return newDeposit === 0 || paymaster !== undefined
    ? 0n
    : BigInt(Math.ceil(write * (64 / 63) ** 2))
}

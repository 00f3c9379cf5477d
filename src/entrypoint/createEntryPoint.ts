import type { Address } from 'viem'
import type { EntryPoint, EntryPointContract } from './entryPoint.js'
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

/** The EntryPoint contract of `version` at `address`. */
export function createEntryPoint(version: Version, address: Address): EntryPoint {
  return {
    ...versionFacts[version],
    ...creators[version](`0x${address.slice(2).toLowerCase()}`),
    version,
  }
}

import { zeroHash } from 'viem'
import type { EntryPointSource } from '../../src/devnet/devContracts.js'

/** EntryPoints that only tests put on a chain; their packages are development dependencies. */
export const LATER_ENTRY_POINTS: readonly EntryPointSource[] = [
  {
    version: '0.7',
    artifacts: 'account-abstraction-v07/artifacts',
    salt: '0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3',
  },
  {
    version: '0.8',
    artifacts: 'account-abstraction-v08/artifacts',
    salt: '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9',
  },
]

/**
 * npm has no creation code of the deployed v0.9, only of its release candidate: the same interface,
 * other code, hence not at the canonical address.
 */
export const ENTRY_POINT_09_CANDIDATE: EntryPointSource = {
  version: '0.9',
  artifacts: 'account-abstraction-v09-rc/artifacts',
  salt: zeroHash,
}

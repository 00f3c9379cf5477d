import type { Address } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import { nodeClient } from '../../support/service/smartAccounts.js'
import type { AccountKind } from './describeAccount.js'

/** The accounts of one vendor. */
export type AccountFamily = {
  /** Puts the contracts on the chain, where the clients expect them. */
  readonly place: (info: DevInfo) => Promise<void>
  readonly kinds: (info: () => DevInfo) => readonly AccountKind[]
}

/** What each client of permissionless asks for. */
export function commonOf<Known extends Version>(info: DevInfo, version: Known) {
  const address = info.entryPoints[version] as Address
  return { client: nodeClient(info), entryPoint: { address, version } }
}

export function ownerOf(seed: string) {
  return privateKeyToAccount(keyFromSeed(seed))
}

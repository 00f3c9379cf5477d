import type { Address } from 'viem'
import { deployDevContracts } from '../../../src/cli/devnet/deployDevContracts.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'
import type { Anvil } from './startAnvil.js'

/** Puts the authors' EntryPoint on the chain, where it is in public. */
export async function deployEntryPoint(anvil: Anvil, version: Version): Promise<Address> {
  const { entryPoints } = await deployDevContracts(anvil.url, [version])
  const address = entryPoints[version]
  if (address === undefined) throw new Error(`there is no EntryPoint v${version}`)
  return address
}

import type { Address } from 'viem'
import { DETERMINISTIC_DEPLOYER } from '../../src/contracts/deployments.js'
import { devContracts, ENTRY_POINT_SOURCES } from '../../src/devnet/devContracts.js'
import type { Version } from '../../src/entrypoint/entryPoint.js'
import { ENTRY_POINT_09_CANDIDATE, LATER_ENTRY_POINTS } from './laterEntryPoints.js'
import type { Anvil } from './startAnvil.js'

const sources = [...ENTRY_POINT_SOURCES, ...LATER_ENTRY_POINTS, ENTRY_POINT_09_CANDIDATE]

/** Deploys the authors' EntryPoint and returns its address, the canonical one up to v0.8. */
export const deployEntryPoint = async (anvil: Anvil, version: Version): Promise<Address> => {
  const source = sources.find((each) => each.version === version)
  if (!source) throw new Error(`there is no EntryPoint v${version}`)
  const { address, deployData } = devContracts(source).entryPoint
  const receipt = await anvil.send({ to: DETERMINISTIC_DEPLOYER, data: deployData })
  if (receipt.status !== '0x1') throw new Error(`deployment of EntryPoint v${version} failed`)
  return address
}

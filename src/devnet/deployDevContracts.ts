import type { Address, Hash } from 'viem'
import {
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  TANK_06,
  TANK_07,
  TANK_FACTORY,
} from '../contracts/deployments.js'
import type { Version } from '../entrypoint/entryPoint.js'
import { DevChainError } from './devChainError.js'
import { devContracts, ENTRY_POINT_SOURCES, type EntryPointSource } from './devContracts.js'
import { devWallet } from './devWallet.js'

export type DeployedContracts = {
  readonly entryPoints: Partial<Record<Version, Address>>
  /** SimpleAccountFactory of each EntryPoint. */
  readonly factories: Partial<Record<Version, Address>>
  readonly tankFactory: Address
}

/**
 * Puts each EntryPoint at its canonical address, its SimpleAccountFactory and our tank contracts on
 * a development chain; what is there already stays.
 * @throws DevChainError when the chain lacks the deterministic deployer or refuses a deployment
 */
export const deployDevContracts = async (
  rpcUrl: string,
  sources: readonly EntryPointSource[] = ENTRY_POINT_SOURCES,
): Promise<DeployedContracts> => {
  const versions = sources.map(devContracts)
  const wanted = [
    ...versions.flatMap(({ entryPoint, factory }) => [entryPoint, factory]),
    ...[TANK_FACTORY, TANK_06, TANK_07],
  ]
  await deployMissing(rpcUrl, wanted)
  return {
    entryPoints: byVersion(versions.map(({ version, entryPoint }) => [version, entryPoint])),
    factories: byVersion(versions.map(({ version, factory }) => [version, factory])),
    tankFactory: TANK_FACTORY.address,
  }
}

const byVersion = (
  entries: readonly (readonly [Version, Deployment])[],
): Partial<Record<Version, Address>> =>
  Object.fromEntries(entries.map(([version, { address }]) => [version, address]))

const deployMissing = async (rpcUrl: string, wanted: readonly Deployment[]): Promise<void> => {
  const wallet = await devWallet(rpcUrl)
  const hasCode = async (address: Address) => (await wallet.getCode({ address })) !== undefined
  if (!(await hasCode(DETERMINISTIC_DEPLOYER))) {
    throw new DevChainError(
      `The chain at ${rpcUrl} has no deterministic deployer at ${DETERMINISTIC_DEPLOYER}: deploy it there first.`,
    )
  }
  const hashes: Hash[] = []
  for (const { address, deployData } of wanted) {
    if (await hasCode(address)) continue
    hashes.push(await wallet.sendTransaction({ to: DETERMINISTIC_DEPLOYER, data: deployData }))
  }
  for (const hash of hashes) await wallet.waitForTransactionReceipt({ hash })
  for (const { address } of wanted) {
    if (!(await hasCode(address))) {
      throw new DevChainError(`The chain at ${rpcUrl} refused to deploy ${address}.`)
    }
  }
}

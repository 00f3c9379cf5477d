import { ConfigError } from '../base/errors/configError.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { requireEntryPoints } from '../chain/requireChain.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'

type Network = Pick<ChainDefinition, 'chainId' | 'entryPoints'>

/** The flag that names the version. */
export const entryPointFlag = [
  '--entry-point <version>',
  'version of the EntryPoint; needed where the chain has several',
] as const

/** The EntryPoints that a command on the chain can mean: the one of this version, or all without a version. */
export async function entryPointsNamed(
  node: NodeClient,
  chain: Network,
  version: string | undefined,
): Promise<readonly EntryPoint[]> {
  const present = await requireEntryPoints(node, chain)
  const named = present.filter((each) => version === undefined || each.version === version)
  if (named.length === 0)
    throw new ConfigError(
      `Chain ${chain.chainId} has no EntryPoint ${version}; it has ${listed(present)}.`,
    )
  return named.map((each) => createEntryPoint(each.version, each.address))
}

/** The one EntryPoint that a command means. Throws ConfigError where it could be several. */
export async function chooseEntryPoint(
  node: NodeClient,
  chain: Network,
  version: string | undefined,
): Promise<EntryPoint> {
  const [chosen, ...others] = await entryPointsNamed(node, chain, version)
  if (chosen !== undefined && others.length === 0) return chosen
  const present = listed([chosen, ...others].flatMap((each) => each ?? []))
  throw new ConfigError(
    `Chain ${chain.chainId} has the EntryPoints ${present}: say which one by --entry-point.`,
  )
}

function listed(entryPoints: readonly { readonly version: string }[]): string {
  return entryPoints.map(({ version }) => version).join(', ')
}

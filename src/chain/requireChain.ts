import type { Hex } from 'viem'
import { canonicalAddresses } from '../entrypoint/canonicalAddresses.js'
import { versions } from '../entrypoint/versionFacts.js'
import { ConfigError } from '../errors/configError.js'
import type { ChainDefinition } from './definition/chainDefinition.js'
import type { NodeClient } from './nodeClient.js'
import { NodeUnavailableError } from './nodeErrors.js'
import { getCode } from './nodeReads.js'

type Network = Pick<ChainDefinition, 'chainId' | 'entryPoints'>

/**
 * Checks that every node that answers serves the chain of the definition: a node of another chain would
 * accept our transactions as its own.
 * @throws ConfigError when the chain id is another; node trouble
 */
export async function requireChain(
  node: NodeClient,
  { chainId }: Pick<Network, 'chainId'>,
): Promise<void> {
  const answers = await node.survey<Hex>('eth_chainId', [])
  if (answers.length === 0) throw new NodeUnavailableError('eth_chainId')
  const wrong = answers.map(Number).find((actual) => actual !== chainId)
  if (wrong !== undefined)
    throw new ConfigError(
      `The node of chain ${chainId} serves chain ${wrong}: correct chainId or rpcUrls.`,
    )
}

/**
 * The EntryPoints to serve on the chain: those of the definition, each of which must be there, or without
 * any in it every canonical one that is there.
 * @throws ConfigError when one of the definition is missing, or none is there; node trouble
 */
export async function requireEntryPoints(
  node: NodeClient,
  { chainId, entryPoints }: Network,
): Promise<Network['entryPoints']> {
  const candidates = entryPoints.length > 0 ? entryPoints : canonical
  const codes = await Promise.all(candidates.map(({ address }) => getCode(node, address)))
  const missing = candidates.find((_, index) => codes[index] === '0x')
  if (entryPoints.length > 0 && missing)
    throw new ConfigError(
      `Chain ${chainId} has no EntryPoint ${missing.version} at ${missing.address}: correct entryPoints.`,
    )
  const present = candidates.filter((_, index) => codes[index] !== '0x')
  if (present.length === 0)
    throw new ConfigError(
      `Chain ${chainId} has none of the canonical EntryPoints: name its own in entryPoints.`,
    )
  return present
}

const canonical = versions.map((version) => ({ version, address: canonicalAddresses[version] }))

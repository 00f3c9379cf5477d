import type { Hex } from 'viem'
import { ConfigError } from '../errors/configError.js'
import type { ChainDefinition } from './definition/chainDefinition.js'
import type { NodeClient } from './nodeClient.js'
import { NodeUnavailableError } from './nodeErrors.js'
import { getCode } from './nodeReads.js'

/**
 * Checks that every node that answers serves the chain of the definition: a node of another chain would
 * accept our transactions as its own.
 * @throws ConfigError when the chain id is another or an EntryPoint is missing; node trouble
 */
export async function requireChain(
  node: NodeClient,
  { chainId, entryPoints }: Pick<ChainDefinition, 'chainId' | 'entryPoints'>,
): Promise<void> {
  const answers = await node.survey<Hex>('eth_chainId', [])
  if (answers.length === 0) throw new NodeUnavailableError('eth_chainId')
  const wrong = answers.map(Number).find((actual) => actual !== chainId)
  if (wrong !== undefined)
    throw new ConfigError(
      `The node of chain ${chainId} serves chain ${wrong}: correct chainId or rpcUrls.`,
    )
  for (const { version, address } of entryPoints) {
    if ((await getCode(node, address)) === '0x')
      throw new ConfigError(
        `Chain ${chainId} has no EntryPoint ${version} at ${address}: correct entryPoints.`,
      )
  }
}

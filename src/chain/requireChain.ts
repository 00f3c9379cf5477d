import type { Hex } from 'viem'
import { ConfigError } from '../errors/configError.js'
import type { ChainDefinition } from './definition.js'
import type { NodeClient } from './nodeClient.js'
import { getCode } from './nodeReads.js'

/**
 * Is it the chain that the definition means? A wrong one would take our transactions for its own.
 * @throws ConfigError when the chain id is another or an EntryPoint is missing; node trouble
 */
export const requireChain = async (
  node: NodeClient,
  { chainId, entryPoints }: Pick<ChainDefinition, 'chainId' | 'entryPoints'>,
): Promise<void> => {
  const actual = Number(await node.request<Hex>('eth_chainId', []))
  if (actual !== chainId)
    throw new ConfigError(
      `The node of chain ${chainId} serves chain ${actual}: correct chainId or rpcUrls.`,
    )
  for (const { version, address } of entryPoints) {
    if ((await getCode(node, address)) === '0x')
      throw new ConfigError(
        `Chain ${chainId} has no EntryPoint ${version} at ${address}: correct entryPoints.`,
      )
  }
}

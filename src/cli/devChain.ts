import type { Logger } from 'pino'
import { createPublicClient, http } from 'viem'
import type { ChainDefinition } from '../chain/definition.js'
import { chainSchema, toChainDefinition } from '../config/chainSchema.js'
import type { Config } from '../config/options.js'
import { type DeployedContracts, deployDevContracts } from '../devnet/deployDevContracts.js'
import { devKey } from '../devnet/devKeys.js'
import { startAnvil } from '../devnet/startAnvil.js'
import type { Version } from '../entrypoint/entryPoint.js'
import { ConfigError } from '../errors/configError.js'

export type DevChain = {
  readonly rpcUrl: string
  readonly contracts: DeployedContracts
  readonly definition: ChainDefinition
  stop(): Promise<void>
}

const CHAIN_ID = 31_337
/** anvil's accounts that send bundles; 9 is the funder, 0 owns the tank. */
const EXECUTORS = [5, 6, 7, 8]

const chainIdAt = async (rpcUrl: string): Promise<number> => {
  const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 0 }) })
  try {
    return await client.getChainId()
  } catch (cause) {
    throw new ConfigError(
      `The node at ${new URL(rpcUrl).host} does not answer: start it or correct --rpc-url.`,
      { cause },
    )
  }
}

/**
 * The development chain, embedded or at the configured URL, with our contracts on it, as a chain
 * definition whose executors are anvil's well-known accounts.
 */
export const startDevChain = async (
  config: Pick<Config, 'data' | 'rpcUrl' | 'blockTime'>,
  logger: Logger,
): Promise<DevChain> => {
  const { data: dataDir, rpcUrl: given, blockTime } = config
  const chain =
    given === undefined
      ? await startAnvil({ chainId: CHAIN_ID, dataDir, blockTime, logger })
      : { rpcUrl: given, stop: async () => {} }
  try {
    const { rpcUrl, stop } = chain
    const chainId = await chainIdAt(rpcUrl)
    const contracts = await deployDevContracts(rpcUrl)
    const parsed = chainSchema.parse({
      chainId,
      name: 'development',
      rpcUrls: [rpcUrl],
      entryPoints: Object.entries(contracts.entryPoints).map(([version, address]) => ({
        version: version as Version,
        address,
      })),
      tankFactory: contracts.tankFactory,
      executorKeys: EXECUTORS.map(devKey),
      pollInterval: 100,
      resubmitAfter: 5_000,
    })
    return {
      rpcUrl,
      contracts,
      definition: toChainDefinition(parsed, (key) => key as `0x${string}`),
      stop,
    }
  } catch (error) {
    await chain.stop()
    throw error
  }
}

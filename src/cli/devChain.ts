import type { Logger } from 'pino'
import { createPublicClient, type Hex, http } from 'viem'
import type { ChainDefinition } from '../chain/definition.js'
import { chainSchema, toChainDefinition } from '../config/chainSchema.js'
import type { Config } from '../config/options.js'
import { type DeployedContracts, deployDevContracts } from '../devnet/deployDevContracts.js'
import { devKey } from '../devnet/devKeys.js'
import { startAnvil } from '../devnet/startAnvil.js'
import { ConfigError } from '../errors/configError.js'
import { type DevChainRecord, writeDevChain } from './devChainRecord.js'

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

/** The development chain as data; its executors are anvil's well-known accounts. */
export const devChainDefinition = ({
  chainId,
  rpcUrl,
  entryPoints,
}: DevChainRecord): ChainDefinition =>
  toChainDefinition(
    chainSchema.parse({
      chainId,
      name: 'development',
      rpcUrls: [rpcUrl],
      entryPoints: Object.entries(entryPoints).map(([version, address]) => ({ version, address })),
      executorKeys: EXECUTORS.map(devKey),
      pollInterval: 100,
      resubmitAfter: 5_000,
    }),
    (key) => key as Hex,
  )

/**
 * The development chain, embedded or at the configured URL, with our contracts on it.
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
    const record = { chainId, rpcUrl, entryPoints: contracts.entryPoints }
    writeDevChain(dataDir, record)
    return { rpcUrl, contracts, definition: devChainDefinition(record), stop }
  } catch (error) {
    await chain.stop()
    throw error
  }
}

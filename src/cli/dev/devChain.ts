import { DEV_CHAIN_ID } from '../devInfo.js'
import type { Logger } from 'pino'
import { createPublicClient, http } from 'viem'
import { smallest } from '../../base/bigints.js'
import { ConfigError } from '../../base/errors/configError.js'
import { indexedBlocks } from '../../bundler/outbox/chainBlocks.js'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import type { Config } from '../../config/options.js'
import type { Database } from '../../db/database.js'
import { anvilClient } from '../devnet/anvilClient.js'
import {
  type AbsentVersion,
  type DeployedContracts,
  deployDevContracts,
} from '../devnet/deployDevContracts.js'
import { fundDevAccounts } from '../devnet/fundDevAccounts.js'
import { freeDevAccounts } from '../devnet/freeDevAccounts.js'
import { type Anvil, type AnvilOptions, startAnvil } from '../devnet/startAnvil.js'
import { devChainDefinition, writeDevChain } from './devChainDefinition.js'

export type DevChain = {
  readonly rpcUrl: string
  readonly contracts: DeployedContracts
  readonly definition: ChainDefinition
  stop(): Promise<void>
}

async function chainIdAt(rpcUrl: string, option: '--rpc-url' | '--fork-url'): Promise<number> {
  const client = createPublicClient({ transport: http(rpcUrl, { retryCount: 0 }) })
  try {
    return await client.getChainId()
  } catch (cause) {
    throw new ConfigError(
      `The node at ${new URL(rpcUrl).host} does not answer: start it or correct ${option}.`,
      { cause },
    )
  }
}

function withoutVersions(absent: readonly AbsentVersion[]): string {
  const versions = absent.map(({ version, reason }) => `v${version} (${reason})`)
  return `the development chain has no EntryPoint ${versions.join(', ')}`
}

/**
 * A killed anvil comes back without the blocks that it had not saved. Such a chain cannot be distinguished
 * from a node that lags behind while it is shorter than what we have indexed; and it would stay so,
 * because nothing is sent to a node that lags behind. Grown to that length it is a reorg.
 */
async function regrow(rpcUrl: string, database: Database): Promise<void> {
  const anvil = anvilClient(rpcUrl)
  const [newest] = await indexedBlocks(database, DEV_CHAIN_ID)
  const missing = newest ? newest.number - (await anvil.getBlockNumber()) : 0n
  if (missing > 0n) await anvil.mine({ blocks: Number(missing) })
}

/** A fork lives in memory: each start copies the chain as it is by then. */
async function startEmbedded(options: AnvilOptions): Promise<Anvil> {
  if (options.forkUrl === undefined) return startAnvil(options)
  await chainIdAt(options.forkUrl, '--fork-url')
  const anvil = await startAnvil({ ...options, dataDir: undefined })
  await freeDevAccounts(anvil.rpcUrl).catch(async (error) => {
    await anvil.stop()
    throw error
  })
  return anvil
}

/**
 * The development chain, embedded or at the configured URL, with our contracts on it.
 */
export async function startDevChain(
  config: Pick<Config, 'data' | 'rpcUrl' | 'forkUrl'>,
  database: Database,
  logger: Logger,
): Promise<DevChain> {
  const { data: dataDir, rpcUrl: configuredUrl, forkUrl } = config
  if (configuredUrl !== undefined && forkUrl !== undefined)
    throw new ConfigError(
      '--fork-url makes an embedded chain, --rpc-url names one: use one of them.',
    )
  const chain =
    configuredUrl === undefined
      ? await startEmbedded({ chainId: DEV_CHAIN_ID, dataDir, forkUrl, logger })
      : { rpcUrl: configuredUrl, stop: async () => {} }
  try {
    const { rpcUrl, stop } = chain
    if (configuredUrl === undefined) await regrow(rpcUrl, database)
    const chainId = await chainIdAt(rpcUrl, '--rpc-url')
    if (configuredUrl !== undefined) await fundDevAccounts(rpcUrl)
    const contracts = await deployDevContracts(rpcUrl)
    if (contracts.absent.length > 0) logger.info(withoutVersions(contracts.absent))
    const { entryPoints, tokens } = contracts
    const record = { chainId, rpcUrl, entryPoints, tokens }
    writeDevChain(dataDir, record)
    const { gasLimit } = await anvilClient(rpcUrl).getBlock()
    const definition = devChainDefinition(record)
    // Bundles must fit into a block of the node: those of a bare geth hold less at first.
    const maxBundleGas = smallest(definition.maxBundleGas, gasLimit)
    return { rpcUrl, contracts, definition: { ...definition, maxBundleGas }, stop }
  } catch (error) {
    await chain.stop()
    throw error
  }
}

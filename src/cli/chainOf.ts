import { resolve } from 'node:path'
import { formatEther } from 'viem/utils'
import { ConfigError } from '../base/errors/configError.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Config } from '../config/options.js'
import { resolveChains } from '../config/resolveChains.js'
import { devChainDefinition, readDevChain } from './dev/devChainDefinition.js'

/** A configured chain, without the executors' keys, which may be elsewhere; or the development chain of the data folder. */
export function chainOf(
  config: Config,
  chainIdText: string,
): { chain: ChainDefinition; isDev: boolean } {
  const [chain] = resolveChains(
    config.chains.filter(({ chainId }) => String(chainId) === chainIdText),
    process.env,
    ['api'],
  )
  if (chain) return { chain, isDev: false }
  const dev = readDevChain(config.data)
  if (dev && String(dev.chainId) === chainIdText)
    return { chain: devChainDefinition(dev), isDev: true }
  const knownIds = [...config.chains, ...(dev ? [dev] : [])].map(({ chainId }) => chainId)
  throw new ConfigError(
    `Chain ${chainIdText} is not configured; known: ${knownIds.join(', ') || 'none'}. Chains are looked for in ${resolve(process.env.PURSER_CONFIG ?? 'purser.json')}, or the file of --config, and ${resolve(config.data)}.`,
  )
}

/** Writes an amount of wei in the chain's own coin, such as `1.5 POL`. */
export type Coins = (wei: bigint) => string

export function coinsOf({ nativeCoin }: Pick<ChainDefinition, 'nativeCoin'>): Coins {
  return (wei) => `${formatEther(wei)} ${nativeCoin}`
}

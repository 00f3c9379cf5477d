import { resolve } from 'node:path'
import { formatEther } from 'viem/utils'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Config } from '../config/options.js'
import { toTokenDefinition } from '../config/tokenSchema.js'
import { ConfigError } from '../errors/configError.js'
import { devChainDefinition } from './dev/devChainDefinition.js'
import { readDevChain } from './dev/devChainRecord.js'

/** The part of a chain's definition that commands need; executors are not in it, as their keys may be elsewhere. */
export type TankChain = Pick<
  ChainDefinition,
  | 'chainId'
  | 'rpcUrls'
  | 'entryPoints'
  | 'tankFactory'
  | 'pollInterval'
  | 'tokens'
  | 'dataFee'
  | 'minimumTip'
  | 'nativeCoin'
>

/** A configured chain, or the development chain of the data folder. */
export function chainOf(config: Config, chainIdText: string): { chain: TankChain; isDev: boolean } {
  const configured = config.chains.find(({ chainId }) => String(chainId) === chainIdText)
  if (configured)
    return {
      chain: {
        ...configured,
        entryPoints: configured.entryPoints ?? [],
        tokens: configured.tokens.map(toTokenDefinition),
      },
      isDev: false,
    }
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

export function coinsOf({ nativeCoin = 'ETH' }: Pick<ChainDefinition, 'nativeCoin'>): Coins {
  return (wei) => `${formatEther(wei)} ${nativeCoin}`
}

import type { Hex } from 'viem'
import type { ChainDefinition } from '../../chain/definition/chainDefinition.js'
import { chainSchema, toChainDefinition } from '../../config/chainSchema.js'
import { devKey } from '../../devnet/devKeys.js'
import type { DevChainRecord } from './devChainRecord.js'

/** anvil's accounts that send bundles; 9 is the funder, 0 owns the tank. */
const executors = [5, 6, 7, 8]

/** A coin is worth 3,000 of each token there. */
const devTerms = { sources: [{ fixed: '3000' }], markup: 1_050_000, maxExposure: '100000' }

/** The development chain as data; its executors are anvil's well-known accounts. */
export function devChainDefinition({
  chainId,
  rpcUrl,
  entryPoints,
  tokens,
}: DevChainRecord): ChainDefinition {
  return toChainDefinition(
    chainSchema.parse({
      chainId,
      name: 'development',
      rpcUrls: [rpcUrl],
      entryPoints: Object.entries(entryPoints).map(([version, address]) => ({ version, address })),
      executorKeys: executors.map(devKey),
      pollInterval: 100,
      // Who develops waits for the next operation, not for others to share a bundle with.
      expectedBundleSize: 1,
      resubmitAfter: 5_000,
      // Contracts that are staked on public chains are not staked here.
      minimumStake: '0',
      minimumUnstakeDelay: 0,
      tokens: tokens.map((token) => ({ ...token, ...devTerms })),
    }),
    (key) => key as Hex,
  )
}

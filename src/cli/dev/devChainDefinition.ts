import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import {
  type ChainDefinition,
  chainSchema,
  toChainDefinition,
} from '../../chain/definition/chainDefinition.js'
import { DEV_NATIVE_USD, type DevInfo } from '../devInfo.js'
import { devKey } from '../devnet/devKeys.js'

/** anvil's accounts that send bundles; 9 is the funder, 0 owns the tank. */
const executors = [5, 6, 7, 8]

/** A coin is worth 3,000 of each token there. */
const devTerms = { sources: [{ fixed: DEV_NATIVE_USD }], markup: 1_050_000, maxExposure: '100000' }

/** The development chain as data; its executors are anvil's well-known accounts. */
export function devChainDefinition({
  chainId,
  rpcUrl,
  entryPoints,
  tokens,
}: DevChainRecord): ChainDefinition {
  const definition = toChainDefinition(
    chainSchema.parse({
      chainId,
      name: 'development',
      rpcUrls: [rpcUrl],
      entryPoints: Object.entries(entryPoints).map(([version, address]) => ({ version, address })),
      executorKeys: executors.map(devKey),
      // Who develops waits for the next operation, not for others to share a bundle with.
      expectedBundleSize: 1,
      // Contracts that are staked on public chains are not staked here.
      minimumStake: '0',
      facts: { pollInterval: 100, resubmitAfter: 5_000, minimumUnstakeDelay: 0, restarts: true },
      tokens: tokens.map((token) => ({ ...token, ...devTerms })),
    }),
    (key) => key as Hex,
  )
  return { ...definition, replacesCode: true }
}

/** Where the development chain of a data folder is, for commands that run while the service does. */
type DevChainRecord = Pick<DevInfo, 'chainId' | 'rpcUrl' | 'entryPoints' | 'tokens'>

function fileIn(dataFolder: string): string {
  return join(dataFolder, 'devChain.json')
}

/** undefined when no service with a development chain has run on this folder. */
export function readDevChain(dataFolder: string): DevChainRecord | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dataFolder), 'utf8')) as DevChainRecord
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function writeDevChain(dataFolder: string, record: DevChainRecord): void {
  const file = fileIn(dataFolder)
  writeFileSync(`${file}.new`, `${JSON.stringify(record, null, 2)}\n`)
  renameSync(`${file}.new`, file)
}

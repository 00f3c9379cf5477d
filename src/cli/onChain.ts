import type { Hex } from 'viem'
import { ConfigError } from '../base/errors/configError.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { createNodeClient, type NodeClient } from '../chain/nodeClient.js'
import type { ExecutorSigner } from '../chain/signing/executorTransaction.js'
import { localSigner } from '../chain/signing/localSigner.js'
import type { Database } from '../db/database.js'
import { chainOf } from './chainOf.js'
import { createLogger } from './createLogger.js'
import type { Flags } from './onStore.js'
import { withStore } from './openStore.js'
import { configOf } from './optionFlags.js'
import { signerOfFlag } from './parseFlags.js'

/** The parts that a command on the money of a chain works with. */
type ChainParts = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly node: NodeClient
  readonly chain: ChainDefinition
  /** The signer that --key names; on the development chain the given one of anvil by default. */
  readonly signerOr: (development: Hex) => Promise<ExecutorSigner>
}

/** Runs a command on the store and the nodes of the chain that --chain names, which are closed whatever happens. */
export async function onChain(
  flags: Flags,
  run: (parts: ChainParts) => Promise<void>,
): Promise<void> {
  const config = configOf(flags)
  const logger = createLogger('error')
  const { chain, isDev } = chainOf(config, flags.chain ?? '')
  await withStore(config, logger, async ({ database, masterKey }) => {
    const node = createNodeClient({ urls: chain.rpcUrls, logger })
    const signerOr = async (development: Hex) => {
      if (flags.key !== undefined) return signerOfFlag(flags.key)
      if (isDev) return localSigner(development)
      throw new ConfigError('--key is required: a private key, env:NAME or file:PATH.')
    }
    try {
      await run({ database, masterKey: masterKey(), node, chain, signerOr })
    } finally {
      await node.close()
    }
  })
}

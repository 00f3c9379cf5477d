import type { Address } from 'viem'
import type { ChainServices } from '../api/services.js'
import { executorStatus } from '../bundling/executorStatus.js'
import type { BundlingCandidate } from '../bundling/leadBundling.js'
import { type ClientReads, createClientReads } from '../chain/clientReads.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { NodeState } from '../chain/nodeClient.js'
import { depositOf } from '../paymaster/entryPointDeposit.js'
import { createTokenBooks, type TokenBooks } from '../paymaster/tokenBooks.js'
import { openSigner, openSigners } from '../signing/openSigner.js'
import type { Database } from '../store/database.js'
import { bundleChain, type ChainBundling, type ChainKeys } from './bundleChain.js'
import type { ChainParts } from './chainParts.js'
import { type ChainHealth, recently } from './checkReadiness.js'
import { type OpenChain, openChain } from './openChain.js'
import type { GaugedChain } from './readGauges.js'
import { serveChain } from './serveChain.js'

/** A head older than this many poll intervals, and this many milliseconds, is stale. */
const staleBounds = { polls: 10, milliseconds: 30_000 }

export type RunningChain = {
  readonly services: ChainServices
  /** Absent where this process does not bundle. */
  readonly bundler: BundlingCandidate | undefined
  readonly health: ChainHealth
  readonly funds: GaugedChain['funds']
  /** wei that an EntryPoint holds for a tank. */
  readonly depositOf: (entryPoint: Address, tank: Address) => Promise<bigint>
  /** The nodes as this process knows them. */
  readonly nodes: () => readonly NodeState[]
  /** The books of payments in tokens. */
  readonly books: TokenBooks
  readonly close: () => Promise<void>
}

/**
 * Opens a chain, serves it, and lets this process compete for its bundling.
 * @throws ConfigError, ChainAwayError in one sentence; nothing is left running then
 */
export async function startChain(
  definition: ChainDefinition,
  parts: ChainParts,
): Promise<RunningChain> {
  const { database, metrics, simulations } = parts
  const keys: ChainKeys = {
    signers: await openSigners(definition.executorKeys),
    treasury: definition.treasury && (await openSigner(definition.treasury.key)),
  }
  const logger = parts.logger.child({ chainId: definition.chainId })
  const chain = await openChain(definition, { metrics, simulations }, logger)
  const { node } = chain
  const services = serveChain(chain, parts)
  const { bundler, debug, funds, stop } = bundleChain(chain, keys, parts)
  const reads = readsOf(chain)
  return {
    services: { ...services, debug, reads },
    bundler,
    health: healthOf(chain, keys, bundler, database),
    funds,
    depositOf: (entryPoint, tank) => depositOf(node, entryPoint, tank),
    nodes: node.nodes,
    books: createTokenBooks({ database, node, definition }),
    close: async () => {
      await stop()
      await reads?.close()
      await chain.close()
    },
  }
}

/** undefined where the operator does not let clients read the node. */
function readsOf({ definition, heads, logger }: OpenChain): ClientReads | undefined {
  const { rpcUrls: urls, logRange, nodeMethods } = definition
  const head = (): bigint => heads.current().number
  return nodeMethods ? createClientReads({ urls, logger, logRange, head }) : undefined
}

function healthOf(
  { definition, node, heads, engine }: OpenChain,
  keys: ChainKeys,
  bundler: ChainBundling['bundler'],
  database: Database,
): ChainHealth {
  return {
    head: () => ({ number: heads.current().number, age: heads.age() }),
    staleAfter: Math.max(staleBounds.milliseconds, staleBounds.polls * definition.pollInterval),
    leads: () => bundler?.leads() ?? false,
    trouble: () => engine.trouble(),
    executors: recently(() =>
      executorStatus({ definition, database, node, ...keys }, heads.current()),
    ),
  }
}

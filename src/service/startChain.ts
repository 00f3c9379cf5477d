import type { NewAppTank } from '../api/adminContext.js'
import type { ChainServices } from '../api/services.js'
import { createRecent } from '../base/createRecent.js'
import { TankError } from '../base/errors/sponsorshipErrors.js'
import { executorStatus } from '../bundler/executorStatus.js'
import { ceilingWait } from '../bundler/feeCeiling.js'
import { type ClientReads, createClientReads } from '../chain/clientReads.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { createSeenBlocks } from '../chain/seenBlocks.js'
import type { Database } from '../db/database.js'
import type { StoredTank } from '../paymaster/ledger/tanks.js'
import { createTankLevels } from '../paymaster/tankLevel.js'
import { createTankSteps, type TankStep } from '../paymaster/tankSteps.js'
import { registerTank } from '../paymaster/tanks.js'
import { createAppBooks, createTokenBooks } from '../paymaster/tokenBooks.js'
import { bundleChain, type ChainBundling } from './bundleChain.js'
import { type ChainHealth, recently } from './checkReadiness.js'
import { type ChainParts, type OpenChain, openChain } from './openChain.js'
import { createRehearsals } from './rehearsals.js'
import { serveChain } from './serveChain.js'

/** A head older than this many poll intervals, and this many milliseconds, is stale. */
const staleBounds = { polls: 10, milliseconds: 30_000 }

export type RunningChain = Awaited<ReturnType<typeof startChain>>

/**
 * Opens a chain, serves it, and lets this process compete for its bundling.
 * @throws ConfigError, ChainAwayError in one sentence; nothing is left running then
 */
export async function startChain(definition: ChainDefinition, parts: ChainParts) {
  const { database, masterKey } = parts
  const chain = await openChain(definition, parts)
  const { node, heads } = chain
  const { news, ...services } = serveChain(chain, parts, () => bundler?.wake() ?? false)
  const { bundler, debug, funds, stop } = bundleChain(chain, parts)
  const reads = readsOf(chain)
  return {
    services: { ...services, debug, reads } satisfies ChainServices,
    news,
    /** When this process had a block, Unix milliseconds. */
    seenAt: createSeenBlocks(heads),
    /** Absent where this process does not bundle. */
    bundler,
    health: healthOf(chain, bundler, database),
    funds,
    /** The money of a tank at a recent head. */
    levelOf: createTankLevels({ database, node, heads, chainId: definition.chainId }),
    /** Registers a tank of an app that gives gas, or gives the one that is there; nothing is sent. */
    registerTank: (trx: Database, { appId, entryPoint, owner }: NewAppTank) =>
      registerTank(
        { database: trx, masterKey, definition },
        { appId, entryPoint, owner, kind: 'gas' },
      ),
    stepsOf: stepsOf(chain),
    nodes: node.nodes,
    /** Recorded operations by the rules of a fork. Throws RateLimitError while one is under way. */
    rehearse: createRehearsals(chain, parts),
    /** The books of an app's payments in tokens, of the last seconds. */
    booksOf: createAppBooks(createTokenBooks({ database, node, definition })),
    close: async (): Promise<void> => {
      news.stop()
      await stop()
      await reads?.close()
      await chain.close()
    },
  }
}

/** Milliseconds for which the steps of a tank stand, however often they are asked for. */
const STEPS_AGE = 2_000

/** The transactions that a tank is missing on the chain, of the last seconds. Throws TankError. */
function stepsOf({ node, definition, entryPoints }: OpenChain) {
  const read = createTankSteps({ node, definition })
  const recent = createRecent<readonly TankStep[]>(STEPS_AGE)
  return async (tank: StoredTank): Promise<readonly TankStep[]> => {
    const { kind, entry_point: address, owner, signer } = tank
    const entryPoint = entryPoints.find((each) => each.address === address)
    if (entryPoint === undefined)
      throw new TankError(`EntryPoint ${address} is not configured for chain ${tank.chain_id}.`)
    const { version } = entryPoint
    const parts = { kind, version, entryPoint: address, owner, signer }
    return recent(tank.address, () => read({ ...parts, address: tank.address }))
  }
}

/** undefined where the operator does not let clients read the node. */
function readsOf({ definition, heads, node, logger }: OpenChain): ClientReads | undefined {
  const { rpcUrls: urls, logRange, nodeMethods } = definition
  const { estimateGas: estimatesGas, sendRawTransaction: sends } = definition
  return nodeMethods
    ? createClientReads({ urls, chain: node.chain, logger, logRange, estimatesGas, sends, heads })
    : undefined
}

function healthOf(
  { definition, node, heads, engine, signers, treasury }: OpenChain,
  bundler: ChainBundling['bundler'],
  database: Database,
): ChainHealth {
  return {
    head: () => ({ number: heads.current().number, age: heads.age() }),
    staleAfter: Math.max(staleBounds.milliseconds, staleBounds.polls * definition.pollInterval),
    nodes: node.nodes,
    leads: () => bundler?.leads() ?? false,
    trouble: () => engine.trouble(),
    coming: () => engine.coming(),
    ceilingWait:
      Object.keys(definition.feeCeiling).length > 0
        ? () => ceilingWait({ node, definition }, heads.current())
        : undefined,
    executors: recently(() =>
      executorStatus({ definition, database, node, signers, treasury }, heads.current()),
    ),
  }
}

import type { Logger } from 'pino'
import { ChainAwayError, ConfigError } from '../base/errors/configError.js'
import type { ChainMetrics, Metrics } from '../base/metrics/metrics.js'
import type { OutboundClient } from '../base/outbound/guardedRequest.js'
import { stopAll } from '../base/stopAll.js'
import { indexedGenesis } from '../bundler/outbox/chainBlocks.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { type HeadFollower, startHeadFollower } from '../chain/headFollower.js'
import { createChainIdentity } from '../chain/chainIdentity.js'
import { createNodeClient, type NodeClient } from '../chain/nodeClient.js'
import { createPendingBlock, type PendingBlock } from '../bundler/pendingBlock.js'
import {
  doubtFinality,
  requireBlocks,
  requireCalldataFloor,
  requireChain,
  requireEntryPoints,
} from '../chain/requireChain.js'
import type { ExecutorSigner } from '../chain/signing/executorTransaction.js'
import { openSigner } from '../chain/signing/openSigner.js'
import type { SigningReport } from '../chain/signing/serviceSigner.js'
import type { Config } from '../config/options.js'
import type { Database } from '../db/database.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import { requireDataFee } from '../gas/dataPrice.js'
import { type ChainEngine, createChainEngine } from '../simulation/chainEngine.js'
import { ruleSettings } from '../simulation/checkRules.js'
import type { Simulations } from '../simulation/simulations.js'
import { createWitnessRecorder, type WitnessRecorder } from '../mempool/witnesses.js'
import type { OperationTraces } from '../telemetry/traces/operationTraces.js'
import type { Approver } from '../webhooks/approve.js'

/** Share of our EVM's validations that the node repeats in the background to compare. */
const COMPARED_SHARE = 0.01

/** The parts that the chains of a service share: its settings, its keys, its ways to database and network. */
export type ChainParts = {
  readonly config: Pick<Config, 'role' | 'debugMethods' | 'nativePrices' | 'maxSponsorshipSeconds'>
  /** The one way out to servers of webhooks and prices. */
  readonly client: OutboundClient
  readonly approver: Approver
  readonly metrics: Metrics
  /** Undefined where nobody wants to see them. */
  readonly traces: OperationTraces | undefined
  /** Runs of our EVM, on threads that all chains share. */
  readonly simulations: Simulations
  readonly database: Database
  readonly masterKey: Buffer
  /** No other service runs on the database. */
  readonly alone: boolean
  readonly logger: Logger
}

/** A chain that answers: its node, its head, the engine that validates on it, and the keys that send on it. */
export type OpenChain = {
  readonly definition: ChainDefinition
  readonly entryPoints: readonly EntryPoint[]
  readonly node: NodeClient
  /** Undefined where the pending block is no promise. */
  readonly pending: PendingBlock | undefined
  readonly heads: HeadFollower
  readonly engine: ChainEngine
  readonly signers: readonly ExecutorSigner[]
  readonly treasury: ExecutorSigner | undefined
  readonly witnesses: WitnessRecorder
  readonly metrics: ChainMetrics
  /** A logger that names the chain. */
  readonly logger: Logger
  /** Stops all of them. */
  close(): Promise<void>
}

/**
 * Connects to a chain and follows it.
 * @throws ConfigError, or ChainAwayError where the node does not answer, in one sentence; nothing is left
 * running then
 */
export async function openChain(
  configured: ChainDefinition,
  parts: Pick<ChainParts, 'database' | 'metrics' | 'simulations' | 'logger'>,
): Promise<OpenChain> {
  const { chainId, rpcUrls, headsUrl, executorKeys } = configured
  const metrics = parts.metrics.ofChain(chainId)
  const logger = parts.logger.child({ chainId })
  const report = ({ service, address, seconds, failure }: SigningReport): void => {
    const outcome = failure === undefined ? 'signed' : 'failed'
    metrics.observe('purser_signing_duration_seconds', { service, outcome }, seconds)
    if (failure) logger.warn({ service, address, reason: failure.message }, 'no signature')
  }
  const signers = await Promise.all(executorKeys.map((source) => openSigner(source, report)))
  const treasury = configured.treasury && (await openSigner(configured.treasury.key, report))
  const stops: (() => Promise<void>)[] = []
  try {
    const genesis = configured.restarts ? undefined : await indexedGenesis(parts.database, chainId)
    const node = createNodeClient({
      urls: rpcUrls,
      chain: createChainIdentity(configured, genesis),
      logger,
      onExchange: ({ methods, node, outcome, seconds }) => {
        const labels = { node, outcome, method: nameOf(methods) }
        metrics.observe('purser_node_request_duration_seconds', labels, seconds)
      },
    })
    stops.push(node.close)
    const definition = await requireDefinition(configured, node, logger)
    let opened: ChainEngine | undefined
    const forks = () => opened?.forks() ?? (['osaka'] as const)
    const entryPoints = definition.entryPoints.map(({ version, address }) =>
      createEntryPoint(version, address, forks),
    )
    const heads = await startHeadFollower({ node, definition, logger, headsUrl })
    stops.push(async () => heads.stop())
    const engine = await createChainEngine({
      node,
      heads,
      chainId,
      replacesCode: definition.replacesCode,
      entryPoints,
      choice: definition.validationEngine,
      comparedShare: COMPARED_SHARE,
      rules: ruleSettings(definition),
      simulations: parts.simulations,
      metrics,
      logger,
    })
    opened = engine
    stops.push(async () => engine.stop())
    const { database } = parts
    const witnesses = createWitnessRecorder({ chainId, database, logger, metrics })
    stops.push(witnesses.stop)
    const close = () => stopAll(stops)
    return {
      definition,
      entryPoints,
      node,
      pending: definition.preconfirmations ? createPendingBlock(node) : undefined,
      heads,
      engine,
      signers,
      treasury,
      witnesses,
      metrics,
      logger,
      close,
    }
  } catch (cause) {
    await stopAll(stops)
    if (cause instanceof ConfigError) throw cause
    throw new ChainAwayError(
      `Chain ${chainId} does not answer at ${rpcUrls.map(hostOf).join(', ')}: start its node or correct rpcUrls.`,
      { cause },
    )
  }
}

/** The definition, checked against what the node says of its chain, with the EntryPoints that are there. */
async function requireDefinition(
  configured: ChainDefinition,
  node: NodeClient,
  logger: Logger,
): Promise<ChainDefinition> {
  await requireChain(node, configured)
  // A node with another block 0 is away: what it lacks is no mistake of the configuration.
  await node.head()
  await requireBlocks(node, configured)
  await requireCalldataFloor(node, configured)
  await requireDataFee(node, configured)
  const doubt = await doubtFinality(node, configured)
  if (doubt !== undefined) logger.warn(doubt)
  return { ...configured, entryPoints: await requireEntryPoints(node, configured) }
}

/** The method of all calls that travelled together, else `batch`. */
function nameOf(methods: readonly string[]): string {
  const [first = 'batch', ...others] = methods
  return others.every((method) => method === first) ? first : 'batch'
}

/** The host of a node's URL: the rest may hold a key and is not shown. */
function hostOf(url: string): string {
  return new URL(url).host
}

import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Address } from 'viem'
import type { ChainServices } from '../api/services.js'
import { unixNow } from '../base/unixNow.js'
import { createDebugBundler } from '../bundling/createDebugBundler.js'
import { createGasWatch, type GasCompared } from '../bundling/createGasWatch.js'
import { createReceiptMemory } from '../bundling/createReceiptMemory.js'
import { executorStatus } from '../bundling/executorStatus.js'
import { type BundlingCandidate, leadBundling } from '../bundling/leadBundling.js'
import { operationByHash } from '../bundling/operationByHash.js'
import { operationReceipt } from '../bundling/operationReceipt.js'
import { operationStatus } from '../bundling/operationStatus.js'
import { type Bundler, startBundler } from '../bundling/startBundler.js'
import type { ChainDefinition } from '../chain/definition.js'
import { adviseFees } from '../chain/fees.js'
import { type HeadFollower, startHeadFollower } from '../chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../chain/nodeClient.js'
import { requireChain } from '../chain/requireChain.js'
import type { StateOverride } from '../chain/stateOverride.js'
import type { Config } from '../config/options.js'
import { createEntryPoint } from '../entrypoint/createEntryPoint.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { ConfigError } from '../errors/configError.js'
import { estimateOperation } from '../gas/estimateOperation.js'
import { expectedShare } from '../gas/preVerificationGas.js'
import { createMempool } from '../mempool/createMempool.js'
import type { Metrics } from '../metrics/createMetrics.js'
import type { OutboundClient } from '../outbound/guardedRequest.js'
import { createAppFees } from '../paymaster/appFees.js'
import { createTokenPaymaster } from '../paymaster/createTokenPaymaster.js'
import { depositOf } from '../paymaster/entryPointDeposit.js'
import { createSponsor } from '../paymaster/sponsor.js'
import { defaultTerms } from '../paymaster/sponsorshipTerms.js'
import { createTokenBooks, type TokenBooks } from '../paymaster/tokenBooks.js'
import { watchFunds } from '../paymaster/watchFunds.js'
import { configuredPrices, parseUsd } from '../policy/price.js'
import { createPrices } from '../prices/createPrices.js'
import { openSigner, openSigners } from '../signing/openSigner.js'
import type { Database } from '../store/database.js'
import { type ChainEngine, createChainEngine } from '../validation/chainEngine.js'
import { ruleSettings } from '../validation/ruleSettings.js'
import type { Approver } from '../webhook/approve.js'
import { type ChainHealth, recently } from './checkReadiness.js'

/** A head older than this many poll intervals, and this many milliseconds, is stale. */
const staleBounds = { polls: 10, milliseconds: 30_000 }

export type RunningChain = {
  readonly services: ChainServices
  /** Absent where this process does not bundle. */
  readonly bundler: BundlingCandidate | undefined
  readonly health: ChainHealth
  /** wei that an EntryPoint holds for a tank. */
  readonly depositOf: (entryPoint: Address, tank: Address) => Promise<bigint>
  /** What was paid in tokens. */
  readonly books: TokenBooks
  readonly close: () => Promise<void>
}

/** What the chains of a service share. */
export type ChainParts = {
  readonly config: Pick<
    Config,
    | 'role'
    | 'leaseSeconds'
    | 'debugMethods'
    | 'nativePrices'
    | 'minSponsorshipSeconds'
    | 'maxSponsorshipSeconds'
  >
  /** The one way out to servers that say prices. */
  readonly client: OutboundClient
  readonly database: Database
  readonly masterKey: Buffer
  /** No other service runs on the database. */
  readonly alone: boolean
  readonly logger: Logger
}

/**
 * Everything that serves one chain, wired.
 * @throws ConfigError in one sentence; nothing is left running then
 */
export async function startChain(
  definition: ChainDefinition,
  approver: Approver,
  metrics: Metrics,
  { config, client, database, masterKey, alone, logger: parent }: ChainParts,
): Promise<RunningChain> {
  const { chainId } = definition
  const logger = parent.child({ chainId })
  const signers = await openSigners(definition.executorKeys)
  const treasury = definition.treasury && (await openSigner(definition.treasury.key))
  const node = createNodeClient({ urls: definition.rpcUrls, logger })
  const entryPoints = definition.entryPoints.map((each) =>
    createEntryPoint(each.version, each.address),
  )
  const { heads, engine } = await openChain(node, definition, entryPoints, metrics, logger).catch(
    async (cause) => {
      await node.close()
      if (cause instanceof ConfigError) throw cause
      throw new ConfigError(
        `Chain ${chainId} does not answer at ${definition.rpcUrls.map(hostOf).join(', ')}: start its node or correct rpcUrls.`,
        { cause },
      )
    },
  )
  const share = expectedShare(definition)
  const fees = () => adviseFees(node, heads.current())
  const estimate = async (entryPoint: EntryPoint, draft: Draft, override?: StateOverride) =>
    estimateOperation(
      { node, engine, definition, advice: await fees(), ...share },
      entryPoint,
      draft,
      override,
    )
  const offered = createAppFees({ database, chainId, fees, estimate })
  const mempool = createMempool({
    definition,
    database,
    node,
    heads,
    engine,
    logger,
    ...share,
    onJudged: (how) => metrics.judged(chainId, how),
  })
  const receipts = createReceiptMemory(database, chainId)
  const views = { definition, entryPoints, database, node, heads, receipts }
  const terms = {
    ...defaultTerms,
    minDuration: config.minSponsorshipSeconds,
    maxDuration: config.maxSponsorshipSeconds,
    prices: pricesOf(config),
  }
  const sponsor = createSponsor({
    database,
    masterKey,
    node,
    heads,
    definition,
    approver,
    logger,
    fees,
    estimate,
    terms,
  })
  const prices = createPrices({
    node,
    client,
    sequencer: definition.sequencerFeed,
    maxAge: definition.priceMaxAge,
    now: () => Math.max(heads.current().timestamp, unixNow()),
  })
  const tokens = createTokenPaymaster({
    database,
    masterKey,
    node,
    heads,
    definition,
    logger,
    fees,
    estimate,
    terms,
    engine,
    prices,
  })
  const rules = ruleSettings(definition)
  if (rules.mode === 'off')
    logger.warn("UNSAFE: ERC-7562 is off on this chain, operations can waste the bundler's gas")
  const candidacy = {
    database,
    chainId,
    alone,
    logger,
    holder: `${hostname()} ${process.pid}`,
    duration: config.leaseSeconds * 1000,
  }
  const bundling = {
    definition,
    entryPoints,
    node,
    engine,
    rules,
    signers,
    treasury,
    logger,
    onBundleEnded: (state: string) => metrics.bundle(chainId, state),
  }
  let leading: Bundler | undefined
  let bundlingMode: 'manual' | 'auto' = 'auto'
  const bundler = config.role.includes('bundler')
    ? leadBundling(candidacy, (database) => {
        const onGasCompared = (outcome: GasCompared) => metrics.gasCompared(chainId, outcome)
        const gasWatch =
          rules.mode === 'off'
            ? undefined
            : createGasWatch({ chainId, node, database, logger, onGasCompared })
        leading = startBundler({ ...bundling, database, gasWatch }, heads)
        leading.setMode(bundlingMode)
        return leading
      })
    : undefined
  const debug = config.debugMethods
    ? createDebugBundler(
        { definition, database, node, rules, heads },
        {
          sendNow: async () => leading?.sendNow(),
          setMode: (mode) => {
            bundlingMode = mode
            leading?.setMode(mode)
          },
        },
      )
    : undefined
  const watch = config.role.includes('bundler')
    ? watchFunds({ database, node, chainId, logger })
    : undefined
  const stale = Math.max(staleBounds.milliseconds, staleBounds.polls * definition.pollInterval)
  return {
    services: {
      chainId,
      entryPoints: new Map(entryPoints.map((each) => [each.address, each])),
      ...offered,
      admit: mempool.admit,
      status: (hash) => operationStatus(views, hash),
      receipt: (hash) => operationReceipt(views, hash),
      byHash: (hash) => operationByHash(views, hash),
      debug,
      sponsor: sponsor.sponsor,
      stub: sponsor.stub,
      tokens,
      previewSponsorship: sponsor.preview,
    },
    depositOf: (entryPoint, tank) => depositOf(node, entryPoint, tank),
    books: createTokenBooks({ database, node, definition }),
    bundler,
    health: {
      head: () => ({ number: heads.current().number, age: heads.age() }),
      staleAfter: stale,
      leads: () => bundler?.leads() ?? false,
      trouble: () => engine.trouble(),
      executors: recently(() =>
        executorStatus({ definition, database, node, signers, treasury }, heads.current()),
      ),
    },
    close: async () => {
      await Promise.all([bundler?.stop(), watch?.stop()])
      engine.stop()
      heads.stop()
      await node.close()
    },
  }
}

/** What follows the chain; nothing of it runs on when a part does not start. */
async function openChain(
  node: NodeClient,
  definition: ChainDefinition,
  entryPoints: readonly EntryPoint[],
  metrics: Metrics,
  logger: Logger,
): Promise<{ heads: HeadFollower; engine: ChainEngine }> {
  await requireChain(node, definition)
  const { chainId, headsUrl, validationEngine: choice, comparedShare } = definition
  const heads = await startHeadFollower({ node, definition, logger, headsUrl })
  try {
    return {
      heads,
      engine: await createChainEngine({
        node,
        heads,
        chainId,
        entryPoints,
        choice,
        comparedShare,
        logger,
        onValidated: (by) => metrics.validated(chainId, by),
        onCompared: (outcome) => metrics.compared(chainId, outcome),
      }),
    }
  } catch (error) {
    heads.stop()
    throw error
  }
}

function pricesOf({ nativePrices }: Pick<Config, 'nativePrices'>) {
  return configuredPrices(
    new Map(Object.entries(nativePrices).map(([id, usd]) => [Number(id), parseUsd(usd)])),
  )
}

/** Of a node's URL only the host is shown: the rest may hold a key. */
function hostOf(url: string): string {
  return new URL(url).host
}

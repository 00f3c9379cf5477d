import { hostname } from 'node:os'
import { createDataFeeWatch } from '../bundling/createDataFeeWatch.js'
import { createDebugBundler, type DebugBundler } from '../bundling/createDebugBundler.js'
import { createGasWatch, type GasWatch } from '../bundling/createGasWatch.js'
import { createRelay, type Relay } from '../bundling/createRelay.js'
import { createSizeWatch } from '../bundling/createSizeWatch.js'
import { type BundlingCandidate, leadBundling } from '../bundling/leadBundling.js'
import { type Bundler, startBundler } from '../bundling/startBundler.js'
import { type FundLevel, watchFunds } from '../paymaster/watchFunds.js'
import type { ExecutorSigner } from '../signing/executorSigner.js'
import type { Database } from '../store/database.js'
import type { BundleState } from '../store/schema.js'
import type { RuleSettings } from '../validation/checkRules.js'
import { ruleSettings } from '../validation/ruleSettings.js'
import type { ChainParts } from './chainParts.js'
import type { OpenChain } from './openChain.js'

/** The keys that send transactions on a chain. */
export type ChainKeys = {
  readonly signers: readonly ExecutorSigner[]
  readonly treasury: ExecutorSigner | undefined
}

/** The bundling of one chain by this process. */
export type ChainBundling = {
  /** Absent where this process does not bundle. */
  readonly bundler: BundlingCandidate | undefined
  /** Absent where debug methods are off. */
  readonly debug: DebugBundler | undefined
  /** The levels of tanks and credits; empty where this process does not bundle. */
  readonly funds: () => readonly FundLevel[]
  stop(): Promise<void>
}

/** Lets this process compete for the bundling of an open chain, where its role is to bundle. */
export function bundleChain(chain: OpenChain, keys: ChainKeys, parts: ChainParts): ChainBundling {
  const { definition, node, heads, logger } = chain
  const { chainId } = definition
  const { config, database, alone, metrics } = parts
  const rules = ruleSettings(definition)
  if (rules.mode === 'off')
    logger.warn("UNSAFE: ERC-7562 is off on this chain, operations can waste the bundler's gas")

  let leading: Bundler | undefined
  let bundlingMode: 'manual' | 'auto' = 'auto'
  const candidacy = {
    database,
    chainId,
    alone,
    logger,
    holder: `${hostname()} ${process.pid}`,
    duration: config.leaseSeconds * 1000,
    onLeaseLost: () => metrics.leaseLost(chainId),
  }
  const isBundler = config.role.includes('bundler')
  const relay = isBundler ? openRelay(chain, metrics) : undefined
  const bundler = isBundler
    ? leadBundling(candidacy, (fenced) => {
        leading = startBundler(
          { ...bundlingContext(chain, keys, parts, rules, fenced), relay },
          heads,
        )
        void leading.setMode(bundlingMode)
        return leading
      })
    : undefined
  const steering = {
    sendNow: async () => leading?.sendNow(),
    setMode: async (mode: 'manual' | 'auto') => {
      bundlingMode = mode
      await leading?.setMode(mode)
    },
  }
  const debug = config.debugMethods
    ? createDebugBundler({ definition, database, node, rules, heads }, steering)
    : undefined
  const fundsWatch = isBundler ? watchFunds({ database, node, chainId, logger }) : undefined
  return {
    bundler,
    debug,
    funds: () => fundsWatch?.levels() ?? [],
    stop: async () => {
      await Promise.all([bundler?.stop(), fundsWatch?.stop()])
      await relay?.close()
    },
  }
}

/** The receiver of bundles that are not to be public; undefined where they are. */
function openRelay(
  { definition: { chainId, sending }, node, logger }: OpenChain,
  metrics: ChainParts['metrics'],
): Relay | undefined {
  if (sending === undefined || sending.way === 'public') return undefined
  return createRelay(sending, {
    node,
    logger,
    onAnswer: (answer) => metrics.relayed(chainId, answer),
  })
}

/** @param database through which only the holder of the chain's lease can write */
function bundlingContext(
  { definition, entryPoints, node, engine, logger }: OpenChain,
  { signers, treasury }: ChainKeys,
  { metrics }: ChainParts,
  rules: RuleSettings,
  database: Database,
) {
  const { chainId } = definition
  const gasWatch: GasWatch | undefined =
    rules.mode === 'off' || (definition.chargedGas ?? 'used') !== 'used'
      ? undefined
      : createGasWatch({
          chainId,
          database,
          replay: engine.replay,
          now: () => performance.now(),
          logger,
          onGasCompared: (outcome) => metrics.gasCompared(chainId, outcome),
        })
  return {
    definition,
    entryPoints,
    database,
    node,
    engine,
    rules,
    signers,
    treasury,
    logger,
    gasWatch,
    dataFeeWatch: createDataFeeWatch({
      node,
      definition,
      logger,
      now: Date.now,
      onDataFeeCompared: (outcome) => metrics.dataFeeCompared(chainId, outcome),
    }),
    sizeWatch:
      definition.expectedBundleSize === 'auto'
        ? createSizeWatch({ database, definition, now: Date.now })
        : undefined,
    onBundleEnded: (state: Exclude<BundleState, 'signed'>) => metrics.bundleEnded(chainId, state),
    onBundlePaid: (cost: bigint, earned: bigint) => metrics.bundlePaid(chainId, cost, earned),
    onBundleReplaced: (kind: 'raised' | 'cancel') => metrics.bundleReplaced(chainId, kind),
    onRelayed: (outcome: 'withdrawn' | 'published') => metrics.relayed(chainId, outcome),
    onReorg: (depth: number) => metrics.reorganised(chainId, depth),
  }
}

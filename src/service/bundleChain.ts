import { hostname } from 'node:os'
import { createDebugBundler, type DebugBundler } from '../bundling/createDebugBundler.js'
import { createGasWatch, type GasWatch } from '../bundling/createGasWatch.js'
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
  const bundler = isBundler
    ? leadBundling(candidacy, (fenced) => {
        leading = startBundler(bundlingContext(chain, keys, parts, rules, fenced), heads)
        leading.setMode(bundlingMode)
        return leading
      })
    : undefined
  const steering = {
    sendNow: async () => leading?.sendNow(),
    setMode: (mode: 'manual' | 'auto') => {
      bundlingMode = mode
      leading?.setMode(mode)
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
    },
  }
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
    rules.mode === 'off'
      ? undefined
      : createGasWatch({
          chainId,
          node,
          database,
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
    sizeWatch:
      definition.expectedBundleSize === 'auto'
        ? createSizeWatch({ database, definition, now: Date.now })
        : undefined,
    onBundleEnded: (state: Exclude<BundleState, 'signed'>) => metrics.bundleEnded(chainId, state),
    onBundlePaid: (cost: bigint, earned: bigint) => metrics.bundlePaid(chainId, cost, earned),
    onBundleReplaced: (kind: 'raised' | 'cancel') => metrics.bundleReplaced(chainId, kind),
    onReorg: (depth: number) => metrics.reorganised(chainId, depth),
  }
}

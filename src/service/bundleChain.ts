import { hostname } from 'node:os'
import { createProblemLog } from '../base/problemLog.js'
import type { BundlingContext } from '../bundler/bundlingContext.js'
import { createBundleWitness } from '../bundler/createBundleWitness.js'
import { createDataFeeWatch } from '../bundler/createDataFeeWatch.js'
import { createDebugBundler, type DebugBundler } from '../bundler/createDebugBundler.js'
import { createGasWatch, type GasWatch } from '../bundler/createGasWatch.js'
import { createRelay, type Relay } from '../bundler/createRelay.js'
import { type BundlingCandidate, leadBundling } from '../bundler/leadBundling.js'
import { minedBundle } from '../bundler/minedBundle.js'
import { type Bundler, startBundler } from '../bundler/startBundler.js'
import type { Database } from '../db/database.js'
import { LEASE_TIME } from '../db/leases.js'
import { createSizeWatch } from '../mempool/bundleSizes.js'
import { type FundLevel, watchFunds } from '../paymaster/watchFunds.js'
import { ruleSettings } from '../simulation/checkRules.js'
import type { ChainParts, OpenChain } from './openChain.js'

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
export function bundleChain(chain: OpenChain, parts: ChainParts): ChainBundling {
  const { definition, node, heads, metrics, logger } = chain
  const { chainId } = definition
  const { config, database, alone } = parts
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
    duration: LEASE_TIME,
    metrics,
  }
  const isBundler = config.role.includes('bundler')
  const relay = isBundler ? openRelay(chain) : undefined
  const bundler = isBundler
    ? leadBundling(candidacy, (fenced) => {
        leading = startBundler(bundlingContext(chain, fenced, relay), heads)
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
export function openRelay({
  definition: { sending },
  node,
  metrics,
  logger,
}: OpenChain): Relay | undefined {
  if (sending.way === 'public') return undefined
  return createRelay(sending, { node, metrics, logger })
}

/**
 * The parts with which a cycle bundles.
 * @param database through which only the holder of the chain's lease can write
 */
export function bundlingContext(
  chain: OpenChain,
  database: Database,
  relay: Relay | undefined,
): BundlingContext {
  const { definition, entryPoints, node, pending, engine, signers, treasury } = chain
  const { metrics, logger, witnesses } = chain
  const { chainId } = definition
  const rules = ruleSettings(definition)
  const gasWatch: GasWatch | undefined =
    rules.mode === 'off' || definition.chargedGas !== 'used'
      ? undefined
      : createGasWatch({
          chainId,
          database,
          now: () => performance.now(),
          logger,
          metrics,
        })
  return {
    definition,
    entryPoints,
    database,
    node,
    pending,
    engine: { ...engine, ...engine.by(undefined) },
    rules,
    signers,
    treasury,
    relay,
    logger,
    problems: createProblemLog(logger),
    gasWatch,
    bundleWitness: createBundleWitness({ witnesses, logger, metrics }),
    minedBundle: (receipt, entryPoint) =>
      minedBundle({ chainId, database, replay: engine.replay }, receipt, entryPoint),
    witnesses,
    dataFeeWatch: createDataFeeWatch({ node, definition, logger, now: Date.now, metrics }),
    sizeWatch:
      definition.expectedBundleSize === 'auto'
        ? createSizeWatch({ database, definition, now: Date.now })
        : undefined,
    metrics,
  }
}

import type { Logger } from 'pino'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { type HeadFollower, startHeadFollower } from '../chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../chain/nodeClient.js'
import {
  doubtFinality,
  requireBlocks,
  requireCalldataFloor,
  requireChain,
  requireEntryPoints,
} from '../chain/requireChain.js'
import { createEntryPoint } from '../entrypoint/createEntryPoint.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { ChainAwayError, ConfigError } from '../errors/configError.js'
import { requireDataFee } from '../gas/requireDataFee.js'
import { type ChainEngine, createChainEngine } from '../validation/chainEngine.js'
import { ruleSettings } from '../validation/ruleSettings.js'
import type { ChainParts } from './chainParts.js'

/** A chain that answers: its node, its head, and the engine that validates on it. */
export type OpenChain = {
  readonly definition: ChainDefinition
  readonly entryPoints: readonly EntryPoint[]
  readonly node: NodeClient
  readonly heads: HeadFollower
  readonly engine: ChainEngine
  /** A logger that names the chain. */
  readonly logger: Logger
  /** Stops all of them. */
  close(): Promise<void>
}

type EngineParts = Pick<ChainParts, 'metrics' | 'simulations'>

/**
 * Connects to a chain and follows it.
 * @throws ConfigError, or ChainAwayError where the node does not answer, in one sentence; nothing is left
 * running then
 */
export async function openChain(
  configured: ChainDefinition,
  parts: EngineParts,
  logger: Logger,
): Promise<OpenChain> {
  const { chainId, rpcUrls } = configured
  const node = createNodeClient({
    urls: rpcUrls,
    logger,
    onExchange: ({ methods, ...exchange }) =>
      parts.metrics.nodeAsked(chainId, { ...exchange, method: nameOf(methods) }),
  })
  try {
    await requireChain(node, configured)
    await requireBlocks(node, configured)
    await requireCalldataFloor(node, configured)
    await requireDataFee(node, configured)
    const doubt = await doubtFinality(node, configured)
    if (doubt !== undefined) logger.warn(doubt)
    const definition = { ...configured, entryPoints: await requireEntryPoints(node, configured) }
    const entryPoints = definition.entryPoints.map(({ version, address }) =>
      createEntryPoint(version, address),
    )
    const chain = { definition, entryPoints, node, logger }
    const { heads, engine } = await followChain(chain, parts)
    const close = async (): Promise<void> => {
      engine.stop()
      heads.stop()
      await node.close()
    }
    return { ...chain, heads, engine, close }
  } catch (cause) {
    await node.close()
    if (cause instanceof ConfigError) throw cause
    throw new ChainAwayError(
      `Chain ${chainId} does not answer at ${rpcUrls.map(hostOf).join(', ')}: start its node or correct rpcUrls.`,
      { cause },
    )
  }
}

/** The head follower and the engine; neither is left running when the other does not start. */
async function followChain(
  { definition, entryPoints, node, logger }: Omit<OpenChain, 'heads' | 'engine' | 'close'>,
  { metrics, simulations }: EngineParts,
): Promise<Pick<OpenChain, 'heads' | 'engine'>> {
  const { chainId, headsUrl, validationEngine, comparedShare } = definition
  const heads = await startHeadFollower({ node, definition, logger, headsUrl })
  try {
    const engine = await createChainEngine({
      node,
      heads,
      chainId,
      entryPoints,
      choice: validationEngine,
      comparedShare,
      rules: ruleSettings(definition),
      simulations,
      logger,
      onValidated: (by) => metrics.validated(chainId, by),
      onCompared: (outcome) => metrics.compared(chainId, outcome),
    })
    return { heads, engine }
  } catch (error) {
    heads.stop()
    throw error
  }
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

import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { ChainAwayError, ConfigError } from '../base/errors/configError.js'
import { unixNow } from '../base/unixNow.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Reloaded } from '../config/instance.js'
import { describeException } from '../erc4337/rules/index.js'
import type { RunningChain } from './startChain.js'

/** Milliseconds that the service waits at its start for nodes, before it serves the other chains. */
const PATIENCE = 5_000

/** Milliseconds between attempts to start a chain whose node is away. */
const RETRY_AFTER = 2_000

/** The configured chains: those that run, and those whose node is away. */
export type ServedChains = Awaited<ReturnType<typeof startChains>>

/** What a reload did, by chain id; `failed` says why. */
export type ChainChanges = Omit<Reloaded, 'needRestart' | 'replacesProcesses'>

type Start = (definition: ChainDefinition) => Promise<RunningChain>

/**
 * Starts all chains at once. One whose node does not answer does not keep the others from being served:
 * it is tried again until it starts.
 * @throws ConfigError, and what else is not the trouble of a node; nothing is left running then
 */
export async function startChains(
  definitions: readonly ChainDefinition[],
  start: Start,
  logger: Logger,
) {
  const set = chainSet(definitions, logger)
  const { running, served, away } = set
  const stopping = new AbortController()
  const { signal } = stopping

  const retries: Promise<void>[] = []
  let isServing = false

  /** One attempt; what it starts after the end is closed at once. */
  const attempt = async (definition: ChainDefinition): Promise<void> => {
    const chain = await start(definition)
    // The end of the service, or a reload while it started.
    if (signal.aborted || !set.isWanted(definition)) return chain.close()
    set.put(definition, chain)
  }

  const untilStarted = async (definition: ChainDefinition): Promise<void> => {
    const { chainId } = definition
    while (!running.has(chainId) && set.isWanted(definition)) {
      await delay(RETRY_AFTER, undefined, { signal }).catch(() => {})
      if (signal.aborted || !set.isWanted(definition)) return
      await attempt(definition).then(
        () => logger.info({ chainId }, 'the chain is served: its node answers'),
        (error: Error) => set.explain(definition, error),
      )
    }
  }

  const tryOn = (definition: ChainDefinition, error: Error): void => {
    set.explain(definition, error)
    retries.push(untilStarted(definition))
  }

  const begin = async (definition: ChainDefinition): Promise<void> => {
    try {
      await attempt(definition)
    } catch (error) {
      // An error that shows while the other chains serve goes to log and readiness.
      if (!(error instanceof ChainAwayError) && !isServing) throw error
      tryOn(definition, error as Error)
    }
  }

  const reload = async (next: readonly ChainDefinition[]) => {
    const changes = await reloadChains(set, { signal, start, tryOn }, next)
    logExceptions([...set.wanted.values()], logger)
    return changes
  }

  logExceptions(definitions, logger)
  const attempts = definitions.map(begin)
  /** No further chain is started. */
  const settle = async (): Promise<void> => {
    stopping.abort()
    await Promise.allSettled(attempts)
    await Promise.allSettled(retries)
  }
  const close = async (): Promise<void> => {
    await settle()
    served.clear()
    await Promise.all([...running.values()].map((chain) => chain.close()))
  }
  try {
    await Promise.race([Promise.all(attempts), delay(PATIENCE, undefined, { signal, ref: false })])
    isServing = true
  } catch (error) {
    await close()
    throw error
  }
  return { running, served, away, reload, settle, close }
}

type ChainSet = ReturnType<typeof chainSet>

/** The chains of a service by id: those that are wanted, those that run, and the reason of each that does not. */
function chainSet(definitions: readonly ChainDefinition[], logger: Logger) {
  const wanted = new Map(definitions.map((definition) => [definition.chainId, definition]))
  const running = new Map<number, RunningChain>()
  /** The services of those that run. */
  const served = new Map<number, RunningChain['services']>()
  /** The sentence that says why a chain does not run yet. */
  const away = new Map(
    definitions.map(({ chainId }) => [chainId, `Chain ${chainId} is being started.`]),
  )
  /** False once a reload has replaced or removed the chain. */
  const isWanted = (definition: ChainDefinition) => wanted.get(definition.chainId) === definition
  /** The chain runs from now on, in place of the one of the same id. */
  const put = ({ chainId }: ChainDefinition, chain: RunningChain): void => {
    running.set(chainId, chain)
    served.set(chainId, chain.services)
    away.delete(chainId)
  }
  /** The chain is not served any more; undefined = it did not run. */
  const take = (chainId: number): RunningChain | undefined => {
    const chain = running.get(chainId)
    for (const each of [running, served, away]) each.delete(chainId)
    return chain
  }
  /** Notes once why a wanted chain does not run. */
  const explain = (definition: ChainDefinition, error: Error): void => {
    if (!isWanted(definition)) return
    const { chainId } = definition
    const isKnown = error instanceof ChainAwayError || error instanceof ConfigError
    const sentence = isKnown ? error.message : `Chain ${chainId} does not start; see the log.`
    if (away.get(chainId) === sentence) return
    away.set(chainId, sentence)
    const details = { chainId, ...(!isKnown && { err: error }) }
    logger.warn(details, `${sentence} The other chains are served, and this one is tried again.`)
  }
  return { wanted, running, served, away, isWanted, put, take, explain }
}

/** Says which entities may break rules, and which could until recently. */
function logExceptions(definitions: readonly ChainDefinition[], logger: Logger): void {
  for (const { chainId, ruleExceptions } of definitions)
    for (const exception of ruleExceptions) {
      const { text, hasEnded } = describeException(exception, unixNow())
      const what = hasEnded
        ? 'an exception from ERC-7562 has ended'
        : 'an exception from ERC-7562 holds'
      logger.warn({ chainId, exception: text }, what)
    }
}

/** How a reload starts a chain. */
type Starting = {
  readonly signal: AbortSignal
  readonly start: Start
  /** Says why a chain does not start, and tries again until it does. */
  tryOn(definition: ChainDefinition, error: Error): void
}

/**
 * Makes the chains of a service the ones of `next`, one after the other: stops those that are left out, starts those that
 * are new, and replaces those whose definition differs once the new one runs. A chain that does not start as it is wanted
 * goes on as it was.
 */
async function reloadChains(
  set: ChainSet,
  starting: Starting,
  next: readonly ChainDefinition[],
): Promise<ChainChanges> {
  const { wanted, running, take } = set
  const { signal, tryOn } = starting
  const started: number[] = []
  const replaced: number[] = []
  const failed: { chainId: number; reason: string }[] = []
  const stopped = [...wanted.keys()].filter((id) => next.every(({ chainId }) => chainId !== id))
  for (const chainId of stopped) {
    wanted.delete(chainId)
    await take(chainId)?.close()
  }
  for (const definition of next) {
    const { chainId } = definition
    const known = wanted.get(chainId)
    if (signal.aborted || (known !== undefined && isDeepStrictEqual(known, definition))) continue
    try {
      await replaceChain(set, starting, definition)
      if (known === undefined) started.push(chainId)
      else replaced.push(chainId)
    } catch (error) {
      failed.push({ chainId, reason: (error as Error).message })
      if (running.has(chainId) || !(error instanceof ChainAwayError)) continue
      wanted.set(chainId, definition)
      tryOn(definition, error)
    }
  }
  return { started, replaced, stopped, failed }
}

/** The new chain runs before the old one ends, so that no request finds none. */
async function replaceChain(
  { wanted, running, put }: ChainSet,
  { signal, start }: Starting,
  definition: ChainDefinition,
): Promise<void> {
  const chain = await start(definition)
  if (signal.aborted) return chain.close()
  const old = running.get(definition.chainId)
  put(definition, chain)
  wanted.set(definition.chainId, definition)
  await old?.close()
}

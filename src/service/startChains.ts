import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { ChainAwayError, ConfigError } from '../base/errors/configError.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { RunningChain } from './startChain.js'

/** Milliseconds that the service waits at its start for nodes, before it serves the other chains. */
const PATIENCE = 5_000

/** Milliseconds between attempts to start a chain whose node is away. */
const RETRY_AFTER = 2_000

/** The configured chains: those that run, and those whose node is away. */
export type ServedChains = {
  readonly running: ReadonlyMap<number, RunningChain>
  /** By chain id, the sentence that says why the chain does not run yet. */
  readonly away: ReadonlyMap<number, string>
  /** No further chain is started. */
  settle(): Promise<void>
  close(): Promise<void>
}

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
): Promise<ServedChains> {
  const running = new Map<number, RunningChain>()
  const away = new Map(
    definitions.map(({ chainId }) => [chainId, `Chain ${chainId} is being started.`]),
  )
  const stopping = new AbortController()
  const { signal } = stopping

  const retries: Promise<void>[] = []
  let isServing = false

  /** One attempt; what it starts after the end is closed at once. */
  const attempt = async (definition: ChainDefinition): Promise<void> => {
    const chain = await start(definition)
    if (signal.aborted) return chain.close()
    running.set(definition.chainId, chain)
    away.delete(definition.chainId)
  }

  const explain = (chainId: number, error: Error): void => {
    const isKnown = error instanceof ChainAwayError || error instanceof ConfigError
    const sentence = isKnown ? error.message : `Chain ${chainId} does not start; see the log.`
    if (away.get(chainId) === sentence) return
    away.set(chainId, sentence)
    const details = { chainId, ...(!isKnown && { err: error }) }
    logger.warn(details, `${sentence} The other chains are served, and this one is tried again.`)
  }

  const untilStarted = async (definition: ChainDefinition): Promise<void> => {
    const { chainId } = definition
    while (!running.has(chainId)) {
      await delay(RETRY_AFTER, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      await attempt(definition).then(
        () => logger.info({ chainId }, 'the chain is served: its node answers'),
        (error: Error) => explain(chainId, error),
      )
    }
  }

  const begin = async (definition: ChainDefinition): Promise<void> => {
    try {
      await attempt(definition)
    } catch (error) {
      // An error that shows while the other chains serve goes to log and readiness.
      if (!(error instanceof ChainAwayError) && !isServing) throw error
      explain(definition.chainId, error as Error)
      retries.push(untilStarted(definition))
    }
  }

  const attempts = definitions.map(begin)
  const settle = async (): Promise<void> => {
    stopping.abort()
    await Promise.allSettled(attempts)
    await Promise.allSettled(retries)
  }
  const close = async (): Promise<void> => {
    await settle()
    await Promise.all([...running.values()].map((chain) => chain.close()))
  }
  try {
    await Promise.race([Promise.all(attempts), delay(PATIENCE, undefined, { signal, ref: false })])
    isServing = true
  } catch (error) {
    await close()
    throw error
  }
  return { running, away, settle, close }
}

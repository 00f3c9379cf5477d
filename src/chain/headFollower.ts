import type { Logger } from 'pino'
import { advance } from './advance.js'
import { type BlockMemory, remember } from './blockMemory.js'
import type { ChainDefinition } from './definition.js'
import type { NodeClient } from './nodeClient.js'
import { getBlock, type Head } from './nodeReads.js'

/** What one look at the chain brought. */
export type HeadEvent = {
  readonly head: Head
  /**
   * Number of the first block that was replaced; undefined when the chain only grew. When every
   * remembered block was replaced it is the oldest remembered one, and the fork may lie deeper.
   */
  readonly reorgedFrom: bigint | undefined
}

/** Follows the head of one chain by polling. */
export type HeadFollower = {
  current(): Head
  /** Milliseconds since the node last told its head: how stale `current()` may be. */
  age(): number
  /** `listener` hears of each new head, in order. Returns how to stop it. */
  onHead(listener: (event: HeadEvent) => void): () => void
  /** Asks the node now and resolves to the head known after that. Node trouble is thrown. */
  refresh(): Promise<Head>
  /** No further poll and no further event. */
  stop(): void
}

type Options = {
  readonly node: NodeClient
  readonly definition: Pick<ChainDefinition, 'chainId' | 'pollInterval'>
  readonly logger: Logger
}

/** Resolves once the first head is known; throws when the node cannot tell it. */
export async function startHeadFollower(options: Options): Promise<HeadFollower> {
  const { node, definition, logger } = options
  const listeners = new Set<(event: HeadEvent) => void>()
  let head = await latest(node)
  let memory: BlockMemory = remember(new Map(), [head])
  let seenAt = Date.now()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  /** Polls run one after the other; this is the last one begun or queued. */
  let polls: Promise<void> = Promise.resolve()
  let queued: Promise<void> | undefined

  async function poll(): Promise<void> {
    if (stopped) return
    const newest = await latest(node)
    seenAt = Date.now()
    if (memory.get(newest.number) === newest.hash) return
    const change = await advance(node, memory, newest)
    if (change === undefined || stopped) return
    memory = change.memory
    head = newest
    if (change.reorgedFrom !== undefined) {
      logger.warn(
        { chainId: definition.chainId, from: change.reorgedFrom, head: newest.number },
        'chain was reorganised',
      )
    }
    for (const listener of listeners) {
      try {
        listener({ head, reorgedFrom: change.reorgedFrom })
      } catch (error) {
        logger.error({ chainId: definition.chainId, err: error }, 'a head listener failed')
      }
    }
  }

  /** A poll that begins after this call; calls before it has begun share it. */
  function nextPoll(): Promise<void> {
    if (queued === undefined) {
      queued = polls
        .catch(() => undefined)
        .then(() => {
          queued = undefined
          return poll()
        })
      polls = queued
    }
    return queued
  }

  function schedule(): void {
    if (stopped) return
    timer = setTimeout(async () => {
      try {
        await nextPoll()
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'unknown'
        logger.warn({ chainId: definition.chainId, age: Date.now() - seenAt, reason }, 'no head')
      }
      schedule()
    }, definition.pollInterval)
  }
  schedule()

  return {
    current: () => head,
    age: () => Date.now() - seenAt,
    onHead(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async refresh() {
      await nextPoll()
      return head
    },
    stop() {
      stopped = true
      clearTimeout(timer)
      listeners.clear()
    },
  }
}

async function latest(node: NodeClient): Promise<Head> {
  const head = await getBlock(node, 'latest')
  if (head === undefined) throw new Error('the node has no latest block')
  return head
}

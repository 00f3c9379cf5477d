import type { Logger } from 'pino'
import type { ChainDefinition } from './definition/chainDefinition.js'
import type { Head } from './head.js'
import { advance } from './heads/advance.js'
import { followAnnouncedHeads } from './heads/announcedHeads.js'
import { type BlockMemory, remember } from './heads/blockMemory.js'
import type { NodeClient } from './nodeClient.js'

/** A new head of the chain. */
export type HeadEvent = {
  readonly head: Head
  /**
   * Number of the first block that was replaced; undefined when the chain only grew. When every
   * remembered block was replaced it is the oldest remembered one, and the fork may lie deeper.
   */
  readonly reorgedFrom: bigint | undefined
}

/** Follows the head that the nodes of one chain agree on, by polling, and at once where a new one is announced. */
export type HeadFollower = {
  current(): Head
  /** Milliseconds since the nodes last told their head: `current()` may be so old. */
  age(): number
  /** Calls `listener` for each new head, in order. Returns a function that ends it. */
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
  /** Endpoint at which a node announces new heads (ws:// or wss://), so that they are known sooner. */
  readonly headsUrl?: string | undefined
}

/** Resolves once the first head is known; throws when the node cannot tell it. */
export async function startHeadFollower(options: Options): Promise<HeadFollower> {
  const { node, definition, logger, headsUrl } = options
  const listeners = new Set<(event: HeadEvent) => void>()
  let head = await node.head()
  let memory: BlockMemory = remember(new Map(), [head])
  let seenAt = Date.now()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  /** Polls run one after the other; this is the last one begun or queued. */
  let polls: Promise<void> = Promise.resolve()
  let queued: Promise<void> | undefined

  async function poll(): Promise<void> {
    if (stopped) return
    const newest = await node.head()
    seenAt = Date.now()
    if (memory.get(newest.number) === newest.hash) return
    const change = await advance(node, memory, newest)
    if (change === undefined || stopped) return
    memory = change.memory
    head = newest
    if (change.reorgedFrom !== undefined) {
      logger.warn({ from: change.reorgedFrom, head: newest.number }, 'chain was reorganised')
    }
    for (const listener of listeners) {
      try {
        listener({ head, reorgedFrom: change.reorgedFrom })
      } catch (error) {
        logger.error({ err: error }, 'a head listener failed')
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

  async function look(): Promise<void> {
    try {
      await nextPoll()
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      logger.warn({ age: Date.now() - seenAt, reason }, 'no head')
    }
  }

  function schedule(): void {
    if (stopped) return
    timer = setTimeout(async () => {
      await look()
      schedule()
    }, definition.pollInterval)
  }
  schedule()
  const announcements = headsUrl && followAnnouncedHeads({ url: headsUrl, onHead: look, logger })

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
      if (announcements) announcements()
      listeners.clear()
    },
  }
}

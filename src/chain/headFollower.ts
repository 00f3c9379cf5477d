import type { Logger } from 'pino'
import type { Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import { createStateLog } from '../base/stateLog.js'
import { followAnnouncedHeads } from './announcedHeads.js'
import type { ChainDefinition } from './definition/chainDefinition.js'
import { decodeHead, type Head, headRequest } from './head.js'
import type { NodeClient } from './nodeClient.js'
import { canonicalBlocks } from './nodeReads.js'

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
  /** Milliseconds since the nodes last reported their head: the age of `current()`. */
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

/** Resolves once the first head is known; throws when the node does not give it. */
export async function startHeadFollower(options: Options): Promise<HeadFollower> {
  const { node, definition, logger, headsUrl } = options
  const listeners = new Set<(event: HeadEvent) => void>()
  let head = await node.head()
  let memory: BlockMemory = remember(new Map(), [head])
  let seenAt = performance.now()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  /** Polls run one after the other; this is the last one begun or queued. */
  let polls: Promise<void> = Promise.resolve()
  let queued: Promise<void> | undefined

  async function poll(): Promise<void> {
    if (stopped) return
    const newest = await node.head(memory)
    seenAt = performance.now()
    if (memory.get(newest.number) === newest.hash && !(await isTakenBack(node, head, newest)))
      return
    const change = await advance(node, memory, newest)
    if (change === undefined || stopped) return
    memory = change.memory
    head = newest
    if (change.reorgedFrom !== undefined) {
      logger.warn({ from: change.reorgedFrom, head: newest.number }, 'reorg')
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

  const age = () => Math.round(performance.now() - seenAt)
  const state = createStateLog(logger, 'no head', 'new heads arrive again')
  async function look(): Promise<void> {
    try {
      await nextPoll()
      state.back()
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown'
      state.away({ age: age(), reason })
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
    age,
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

type HeadChange = { readonly memory: BlockMemory; readonly reorgedFrom: bigint | undefined }

/**
 * The change of the chain up to `newest`, a block that we have not seen. Headers between are fetched in one batch,
 * at most as many as we remember; when the parent hashes do not meet our memory, one more batch of
 * the remembered numbers finds the fork. Undefined when blocks changed while we read: ask again later.
 */
async function advance(
  node: NodeClient,
  memory: BlockMemory,
  newest: Head,
): Promise<HeadChange | undefined> {
  const numbers = [...memory.keys()]
  const top = numbers.at(-1) ?? newest.number
  const oldestWanted = newest.number - BigInt(REMEMBERED_BLOCKS) + 1n
  const firstMissing = top + 1n > oldestWanted ? top + 1n : oldestWanted
  const between = await headers(node, range(firstMissing, newest.number - 1n))
  const blocks = [...between, newest]
  if (blocks.length !== Number(greatest(newest.number - firstMissing, 0n)) + 1 || !linked(blocks)) {
    return undefined
  }
  const first = blocks[0] ?? newest
  if (memory.get(first.number - 1n) === first.parentHash && newest.number > top) {
    return { memory: remember(memory, blocks), reorgedFrom: undefined }
  }

  const reachable = numbers.filter((number) => number <= newest.number)
  const known = [...(await canonicalBlocks(node, reachable)).values()]
  const kept = known.filter(({ number, hash }) => memory.get(number) === hash)
  const common = kept.at(-1)
  const reorgedFrom = common === undefined ? numbers[0] : common.number + 1n
  const canonical = known.filter(({ number }) => number < first.number)
  const joined = [...canonical, ...blocks]
  const history = linked(joined) ? joined : blocks
  return {
    memory: remember(new Map(), history),
    reorgedFrom: common?.number === top ? undefined : reorgedFrom,
  }
}

/**
 * Whether a development chain went back to `newest`, a block before `head` (`evm_revert`): it may make no other before it
 * is sent something. On other chains the next block says whether the chain went back, or its node was behind.
 */
async function isTakenBack(node: NodeClient, head: Head, newest: Head): Promise<boolean> {
  if (!node.chain?.restarts || newest.number >= head.number) return false
  return (await headers(node, [head.number])).length === 0
}

/** The canonical headers of `numbers` that the node has, in that order. */
async function headers(node: NodeClient, numbers: readonly bigint[]): Promise<readonly Head[]> {
  if (numbers.length === 0) return []
  const answers = await node.batch(numbers.map(headRequest))
  return answers.flatMap((answer) => {
    if (!answer.ok) throw answer.error
    return decodeHead(answer.result) ?? []
  })
}

function range(from: bigint, to: bigint): bigint[] {
  const numbers: bigint[] = []
  for (let number = from; number <= to; number++) numbers.push(number)
  return numbers
}

/** The last blocks of the canonical chain as we saw it, a gapless run by number. */
type BlockMemory = ReadonlyMap<bigint, Hex>

const REMEMBERED_BLOCKS = 64

/**
 * Memory after `blocks` (linked, oldest first) became canonical. Forgotten are the blocks that they
 * replace, those older than the limit and all before a gap.
 */
function remember(memory: BlockMemory, blocks: readonly Head[]): BlockMemory {
  const first = blocks[0]
  const last = blocks.at(-1)
  if (first === undefined || last === undefined) return memory
  const limit = last.number - BigInt(REMEMBERED_BLOCKS)
  const continues = memory.get(first.number - 1n) === first.parentHash
  const next = new Map<bigint, Hex>()
  for (const [number, hash] of memory) {
    if (continues && number < first.number && number > limit) next.set(number, hash)
  }
  for (const { number, hash } of blocks) if (number > limit) next.set(number, hash)
  return next
}

/** Whether `blocks` (oldest first) link to each other by parent hash. */
function linked(blocks: readonly Head[]): boolean {
  return blocks.every((block, i) => i === 0 || block.parentHash === blocks[i - 1]?.hash)
}

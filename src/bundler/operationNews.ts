import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { HeadFollower } from '../chain/headFollower.js'
import type { Database } from '../db/database.js'
import {
  type OperationStatus,
  operationStatus,
  preconfirmedReceipt,
  type ViewContext,
} from './operationViews.js'
import { PENDING_LOOK } from './pendingBlock.js'
import { repeat } from './repeat.js'

/** The stages of an operation that callers can wait for. `preconfirmed` is `included` where no sequencer promises. */
export type Stage = 'accepted' | 'preconfirmed' | 'included' | 'final'

/** `isDone`: the operation has come as far as was asked for, or will come no further. */
export type OperationProgress = { readonly status: OperationStatus; readonly isDone: boolean }

type Listener = {
  /** Called for each status that differs from the one before, the present one first. */
  readonly report: (progress: OperationProgress) => void
  /** Called once nothing more will be reported, though it is not done: the service stops. */
  readonly end: () => void
}

export type OperationNews = {
  /** Follows an operation, known yet or not, to a stage; the function ends it. */
  follow(hash: Hex, until: Stage, listener: Listener): () => void
  /** Operations that were included, dropped or replaced. */
  ended(hashes: readonly Hex[]): void
  /** Ends every follower, and each new one at once. */
  stop(): void
}

type NewsContext = ViewContext & { readonly heads: Pick<HeadFollower, 'current' | 'onHead'> }

type Follower = {
  readonly hash: Hex
  readonly until: Stage
  readonly listener: Listener
  /** The block at which its inclusion is final; undefined = not included. */
  finalAt: bigint | undefined
  isPromised: boolean
  /** The last report, in short. */
  last: string | undefined
  isRead: boolean
  /** Something happened while it was read. */
  isStale: boolean
  isOver: boolean
}

function newFollower(hash: Hex, until: Stage, listener: Listener): Follower {
  return {
    hash,
    until,
    listener,
    finalAt: undefined,
    isPromised: false,
    last: undefined,
    isRead: false,
    isStale: false,
    isOver: false,
  }
}

/** Milliseconds between two looks for ends whose announcement was missed. */
const LOOK = 5_000

/**
 * News of the operations of one chain, for everybody who waits for one: nothing is read for an operation before it was
 * announced, a pending block has it, or its inclusion became final. Where many wait, they share each look.
 */
export function createOperationNews(context: NewsContext): OperationNews {
  const { database, heads, pending, logger } = context
  const { chainId } = context.definition
  const followers = new Map<Hex, Set<Follower>>()
  let stopTimers: (() => void) | undefined
  let stopped = false

  function* waiting(isMeant: (follower: Follower) => boolean): Generator<Follower> {
    for (const ofHash of followers.values())
      for (const follower of ofHash) if (isMeant(follower)) yield follower
  }

  function hashesOf(isMeant: (follower: Follower) => boolean): Hex[] {
    return [...new Set([...waiting(isMeant)].map(({ hash }) => hash))]
  }

  function leave(follower: Follower): void {
    const ofHash = followers.get(follower.hash)
    follower.isOver = true
    if (!ofHash?.delete(follower) || ofHash.size > 0) return
    followers.delete(follower.hash)
    if (followers.size > 0) return
    stopTimers?.()
    stopTimers = undefined
  }

  function report(follower: Follower, progress: OperationProgress): void {
    const name = nameOf(progress)
    if (name === follower.last) return
    follower.last = name
    follower.isPromised = progress.status.preconfirmed ?? false
    if (progress.isDone) leave(follower)
    follower.listener.report(progress)
  }

  function wake(hashes: Iterable<Hex>, isMeant = (_: Follower) => true): void {
    for (const hash of hashes)
      for (const follower of followers.get(hash) ?? [])
        if (isMeant(follower)) void read(context, follower, report)
  }

  async function lookForEnds(): Promise<void> {
    const open = hashesOf(({ finalAt }) => finalAt === undefined)
    if (open.length > 0) wake(await endedOf(database, chainId, open))
  }

  async function lookAtPending(): Promise<void> {
    const open = hashesOf(isForPromise)
    if (open.length === 0 || pending === undefined) return
    const promised = await pending.transactions()
    if (promised.size > 0) wake(await promisedOf(database, chainId, open, promised), isForPromise)
  }

  function startTimers(): () => void {
    const isDue = ({ until, finalAt }: Follower) =>
      until === 'final' && finalAt !== undefined && finalAt <= heads.current().number
    const ends = [
      repeat(lookForEnds, LOOK, logger),
      ...(pending ? [repeat(lookAtPending, PENDING_LOOK, logger)] : []),
      heads.onHead(() => {
        for (const follower of waiting(isDue)) void read(context, follower, report)
      }),
    ]
    return () => {
      for (const end of ends) end()
    }
  }

  return {
    follow(hash, until, listener) {
      if (stopped) {
        queueMicrotask(listener.end)
        return () => {}
      }
      const follower = newFollower(hash, until, listener)
      const ofHash = followers.get(hash) ?? new Set()
      followers.set(hash, ofHash.add(follower))
      stopTimers ??= startTimers()
      void read(context, follower, report)
      return () => leave(follower)
    },
    ended: (hashes) => wake(hashes),
    stop() {
      stopped = true
      for (const follower of [...waiting(() => true)]) {
        leave(follower)
        follower.listener.end()
      }
    },
  }
}

/** Whether it is to hear of a promise and has not yet. */
function isForPromise({ until, finalAt, isPromised }: Follower): boolean {
  return until !== 'included' && finalAt === undefined && !isPromised
}

/** Reads an operation, and once more where something happened meanwhile. */
async function read(
  context: NewsContext,
  follower: Follower,
  report: (follower: Follower, progress: OperationProgress) => void,
): Promise<void> {
  follower.isStale = true
  if (follower.isRead) return
  follower.isRead = true
  try {
    while (follower.isStale && !follower.isOver) {
      follower.isStale = false
      const progress = await progressOf(context, follower)
      if (progress !== undefined && !follower.isOver) report(follower, progress)
    }
  } catch (err) {
    const { hash: op } = follower
    context.logger.warn({ err, op }, 'an operation with a waiting request could not be read')
  } finally {
    follower.isRead = false
  }
}

/** What distinguishes a report from the one before. */
function nameOf({ isDone, status }: OperationProgress): string {
  const { state, transactionHash, preconfirmed, receipt } = status
  return [state, transactionHash, preconfirmed, receipt?.receipt.blockHash, isDone].join(' ')
}

/** undefined = unknown, or promised by a node that has no receipt of it yet. */
async function progressOf(
  context: NewsContext,
  follower: Follower,
): Promise<OperationProgress | undefined> {
  const { hash, until } = follower
  const status = await operationStatus(context, hash)
  if (status === undefined) return undefined
  const { state, receipt } = status
  const { finalityDepth } = context.definition
  follower.finalAt = receipt && receipt.receipt.blockNumber + BigInt(finalityDepth)
  if (follower.finalAt !== undefined) {
    const isFinal = context.heads.current().number >= follower.finalAt
    return { status, isDone: until !== 'final' || isFinal }
  }
  if (!status.preconfirmed)
    return { status, isDone: state !== 'BUNDLER_MEMPOOL' && state !== 'SUBMITTED' }
  const promised = await preconfirmedReceipt(context, hash)
  if (promised === undefined) return undefined
  return { status: { ...status, receipt: promised }, isDone: until === 'preconfirmed' }
}

async function endedOf(db: Database, chainId: number, hashes: readonly Hex[]): Promise<Hex[]> {
  const { rows } = await sql<{ hash: Hex }>`select hash from operations
    where chain_id = ${chainId} and hash = any(${hashes}::text[])
      and state in ('included', 'dropped', 'replaced')`.execute(db)
  return rows.map(({ hash }) => hash)
}

/** Those of the operations that are in one of the transactions. */
async function promisedOf(
  db: Database,
  chainId: number,
  hashes: readonly Hex[],
  promised: ReadonlySet<Hex>,
): Promise<Hex[]> {
  const { rows } = await sql<{
    op: Hex
    transaction: Hex
  }>`select o.hash as op, t.hash as transaction
    from operations o join bundle_transactions t on t.bundle_id = o.bundle_id and not t.noop
    where o.chain_id = ${chainId} and o.hash = any(${hashes}::text[])
      and o.state = 'bundled'`.execute(db)
  return rows.filter(({ transaction }) => promised.has(transaction)).map(({ op }) => op)
}

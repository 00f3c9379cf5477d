import type { Hex } from 'viem'
import { faultPoint } from '../../base/faults.js'
import { bundlingHorizon } from '../../chain/comingBlock.js'
import type { Head } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { canonicalBlocks, getTransactionReceipts } from '../../chain/nodeReads.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import { zeroHash } from '../../erc4337/encoding/constants.js'
import type { Log } from '../../erc4337/entryPoint.js'
import { banForFailures } from '../assemble/failures.js'
import type { BundlingContext } from '../bundlingContext.js'
import { readDataFees } from '../dataFees.js'
import { openBundles } from '../outbox/bundles.js'
import { type DueWork, readDueWork } from '../outbox/dueWork.js'
import {
  type ChainBlock,
  forgetChain,
  indexedBlocks,
  putBlock,
  rollBack,
} from '../outbox/chainBlocks.js'
import { hashesToSettle, type SeenInclusion } from '../outbox/inclusions.js'
import { type Culprit, findCulprit } from './findCulprit.js'
import { findLosses } from './findLosses.js'
import { lookForExpired, noneLooked, noReceipt, readEvents } from './readEvents.js'
import { settleReceipts } from './settleReceipts.js'

/**
 * Brings the index of inclusions to `head`: undoes what a reorg took back, then settles every
 * transaction that includes operations of ours, from our bundles' receipts and from the EntryPoints'
 * own events, in steps of `logRange` blocks. Each step is one transaction together with the block that
 * it reaches, so a crash repeats a step but never loses or doubles one. Returns what else is due at `head`; undefined when
 * the index has not reached it: when the node lags behind it or the chain changed while it was read.
 */
export async function indexBlocks(
  context: BundlingContext,
  head: Head,
): Promise<DueWork | undefined> {
  const { definition, database, node, logger, metrics } = context
  const { chainId, logRange } = definition
  let due = await dueAt(context, head)
  const { newestBlock: newest } = due
  if (newest === undefined) {
    await beginIndex(context, head)
    return due
  }
  const fork = await findForkPoint(context, newest, head)
  if (fork.kind === 'behind') return newest.hash === head.hash ? due : undefined
  if (fork.kind === 'reset') {
    logger.warn({ head: head.number }, 'the chain was reset: its open bundles are abandoned')
    await database.transaction().execute((trx) => forgetChain(trx, chainId))
    await beginIndex(context, head)
    return dueAt(context, head)
  }
  if (fork.kind === 'reorg') {
    const hashes = await database.transaction().execute(async (trx) => {
      const undone = await rollBack(trx, chainId, fork.after)
      // Else only block 0 is left, from which the whole chain would be read where a step fails now.
      if (fork.base) await putBlock(trx, chainId, fork.base, 0n)
      return undone
    })
    const depth = Number(newest.number - fork.after)
    metrics.observe('purser_reorg_depth_blocks', {}, depth)
    logger.warn(
      { fork: fork.after, head: head.number, ops: hashes },
      'reorg: inclusions were undone',
    )
    faultPoint('reorg:undone')
    due = await dueAt(context, head)
  }
  for (let from = fork.after + 1n; from <= head.number; from += BigInt(logRange)) {
    faultPoint('index:catching-up')
    const last = from + BigInt(logRange) - 1n
    const to = last < head.number ? (await canonicalBlocks(node, [last])).get(last) : head
    if (!to || !(await indexRange(context, due, { from, to, head }))) return undefined
  }
  return due
}

async function dueAt(
  { definition, database, node }: BundlingContext,
  head: Head,
): Promise<DueWork> {
  const { chainId, finalityDepth, maxPoolAge } = definition
  const final = head.number - BigInt(finalityDepth)
  const last = await bundlingHorizon(node, head, definition)
  return readDueWork(database, chainId, { head, final, last, maxPoolAge })
}

/** Starts the index at `head`; older blocks only show which chain it is and where it may fork. */
async function beginIndex(
  { definition, database, node }: BundlingContext,
  head: Head,
): Promise<void> {
  const { chainId, finalityDepth } = definition
  const anchor = head.number - BigInt(finalityDepth)
  const numbers = anchor > 0n ? [0n, anchor] : [0n]
  const older = await canonicalBlocks(node, numbers)
  // An index that began at a head which a node made up would wait for the chain to reach it.
  if (anchor > 0n && !older.has(anchor) && !(await hasParent(node, head)))
    throw new NodeUnavailableError(`it has block ${head.number} and not block ${anchor}`)
  await database.transaction().execute(async (trx) => {
    for (const block of [...older.values(), head]) await putBlock(trx, chainId, block, 0n)
  })
  faultPoint('index:began')
}

/** Whether the node has the parent of `head`: a chain may have its first block, or a node its oldest, at any number. */
async function hasParent(node: NodeClient, { number, parentHash }: Head): Promise<boolean> {
  return parentHash === zeroHash || !(await isGone(node, { number: number - 1n, hash: parentHash }))
}

/** Blocks to settle, of the chain at `head`. */
type Range = { readonly from: bigint; readonly to: Head; readonly head: Head }

/** Settles one range of blocks. False when the chain changed while it was read; the next head repeats it. */
async function indexRange(
  context: BundlingContext,
  due: DueWork,
  { from, to, head }: Range,
): Promise<boolean> {
  const { definition, database, node } = context
  const { chainId, finalityDepth } = definition
  const final = to.number - BigInt(finalityDepth)
  const looked = due.endsReservations ? await lookForExpired(context, final, head) : noneLooked
  const receipts = await readReceipts(context, due, { from, to, head }, looked.events)
  if (receipts === undefined) return false
  const numbers = new Set(receipts.map(({ blockNumber }) => blockNumber))
  numbers.delete(to.number)
  const canonical = await canonicalBlocks(node, [...numbers])
  canonical.set(to.number, to)
  if (receipts.some(({ blockNumber, blockHash }) => canonical.get(blockNumber)?.hash !== blockHash))
    return false

  const culprits = await findCulprits(context, receipts)
  const losses = await findLosses(context, receipts)
  const dataFees = await readDataFees(context, receipts, canonical)
  const settles = receipts.length > 0
  if (settles) faultPoint('receipts:read')
  await database.transaction().execute(async (trx) => {
    const { number, timestamp } = to
    const progress = due.endsReservations
      ? { number, timestamp, final, looked: looked.ids }
      : undefined
    const found = { culprits, losses, dataFees }
    await putBlock(trx, chainId, to, final)
    await settleReceipts(trx, context, receipts, canonical, progress, found)
    if (settles) faultPoint('inclusion:settled')
  })
  if (settles) faultPoint('inclusion:committed')
  return true
}

/** The culprits of reverted bundles, by transaction; their entities are banned (GREP-040). */
async function findCulprits(
  context: BundlingContext,
  receipts: readonly TransactionReceipt[],
): Promise<ReadonlyMap<Hex, Culprit>> {
  const culprits = new Map<Hex, Culprit>()
  for (const receipt of receipts) {
    const culprit = receipt.status === 0 ? await findCulprit(context, receipt) : undefined
    if (culprit === undefined) continue
    culprits.set(receipt.transactionHash, culprit)
    const { entryPoint, stored, failure, wasAlone } = culprit
    await banForFailures(context, entryPoint, [{ stored, failure }], wasAlone)
  }
  return culprits
}

/**
 * Receipts up to block `to` of our open bundles and of all transactions with events of operations that
 * were sent to us or that we sponsored; `missed` are events of earlier blocks. Undefined when the node
 * does not have the blocks.
 */
async function readReceipts(
  context: BundlingContext,
  { hasOpenBundles, awaitsInclusion }: DueWork,
  { from, to, head }: Range,
  missed: readonly Log[],
): Promise<readonly TransactionReceipt[] | undefined> {
  const { definition, database, node } = context
  const { chainId } = definition
  if (!hasOpenBundles && !awaitsInclusion && missed.length === 0) return []
  const bundles = hasOpenBundles ? await openBundles(database, chainId) : []
  const attempts = bundles.flatMap((bundle) => bundle.attempts.map(({ hash }) => hash))
  const [bundleReceipts, read] = await Promise.all([
    getTransactionReceipts(node, attempts),
    readEvents(context, from, to, head),
  ])
  if (read === undefined) return undefined
  const events = [...missed, ...read]
  const sent = new Set(attempts)
  const own = events.filter(({ transactionHash }) => sent.has(transactionHash))
  const foreign = events.filter(({ transactionHash }) => !sent.has(transactionHash))
  const seen = foreign.map(toSeenInclusion)
  const ourHashes = await hashesToSettle(database, chainId, seen)
  const others = foreign.filter((_, index) => ourHashes.has(seen[index]?.userOpHash ?? '0x'))
  const otherHashes = new Set(others.map(({ transactionHash }) => transactionHash))
  const otherReceipts = await getTransactionReceipts(node, [...otherHashes])
  const including = new Set([...own, ...others].map(({ transactionHash }) => transactionHash))
  const receipts = [...bundleReceipts, ...otherReceipts].filter(
    ({ blockNumber }) => blockNumber <= to.number,
  )
  // Without this receipt an operation of ours would stay uncounted for ever.
  for (const { transactionHash } of receipts) including.delete(transactionHash)
  const [missing] = including
  if (missing) throw new NodeUnavailableError(noReceipt(missing))
  return receipts
}

/** The indexed members of a UserOperationEvent: its hash, sender and paymaster. */
function toSeenInclusion({ address, topics }: Pick<Log, 'address' | 'topics'>): SeenInclusion {
  const [, userOpHash = '0x', , paymaster = '0x'] = topics
  return { entryPoint: address, userOpHash, paymaster: `0x${paymaster.slice(-40)}` }
}

/** The relation of the chain at `head` to the indexed blocks. */
type ForkPoint =
  /** Nothing new: the head is indexed, or this node lags behind the index. */
  | { readonly kind: 'behind' }
  /** The chain only grew; index from `after`. */
  | { readonly kind: 'grew'; readonly after: bigint }
  /** Blocks above `after` were replaced. `base`: that block, where it was not indexed. */
  | { readonly kind: 'reorg'; readonly after: bigint; readonly base?: Head | undefined }
  /** Another block 0: a development chain that began anew. */
  | { readonly kind: 'reset' }

/**
 * The point at which the node's chain departs from the indexed blocks (newest first, block 0 last). A
 * node that has only a part of them lags behind; one with another block 0 serves another chain. When none above block 0 matches, the fork counts as
 * just below the oldest: older blocks are final.
 */
async function findForkPoint(
  { definition, database, node }: BundlingContext,
  newest: ChainBlock,
  head: Head,
): Promise<ForkPoint> {
  const { chainId, finalityDepth, restarts } = definition
  if (newest.hash === head.hash) return { kind: 'behind' }
  if (head.number === newest.number + 1n && head.parentHash === newest.hash) {
    return { kind: 'grew', after: newest.number }
  }
  // Where blocks come faster than they are looked for, this saves reading all indexed ones again at each head.
  if (newest.number < head.number && !(await isGone(node, newest)))
    return { kind: 'grew', after: newest.number }
  const indexed = await indexedBlocks(database, chainId)
  const reachable = indexed.filter(({ number }) => number <= head.number)
  const current = await canonicalBlocks(
    node,
    reachable.map(({ number }) => number),
  )
  const genesis = current.get(0n)
  if (genesis && genesis.hash !== indexed.at(-1)?.hash) {
    if (restarts) return { kind: 'reset' }
    throw new NodeUnavailableError(`its block 0 is ${genesis.hash}, not the one that was indexed`)
  }

  const common = reachable.find(({ number, hash }) => current.get(number)?.hash === hash)
  if (common?.number === newest.number) return { kind: 'grew', after: newest.number }
  if (common && common.number > 0n) {
    const lags = common === reachable[0] && !(restarts && (await isGone(node, newest)))
    return lags ? { kind: 'behind' } : { kind: 'reorg', after: common.number }
  }
  if (newest.number - head.number > BigInt(finalityDepth)) return { kind: 'behind' }
  const oldest = indexed.findLast(({ number }) => number > 0n) ?? newest
  const below = oldest.number - 1n
  const after = below < head.number ? below : head.number
  return { kind: 'reorg', after, base: (await canonicalBlocks(node, [after])).get(after) }
}

/** Whether the node's chain has no such block (any more). */
async function isGone(node: NodeClient, { number, hash }: ChainBlock): Promise<boolean> {
  return (await canonicalBlocks(node, [number])).get(number)?.hash !== hash
}

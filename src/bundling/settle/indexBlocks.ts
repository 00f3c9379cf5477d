import type { Hex } from 'viem'
import { faultPoint } from '../../base/faults.js'
import { decodeHead, type Head, headRequest } from '../../chain/head.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { getBlock, getTransactionReceipts } from '../../chain/nodeReads.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { Log } from '../../entrypoint/entryPoint.js'
import { hasOpenReservations } from '../../store/ledger/reservations.js'
import { openBundles } from '../../store/outbox/bundles.js'
import {
  type ChainBlock,
  indexedBlocks,
  pruneBlocks,
  putBlock,
} from '../../store/outbox/chainBlocks.js'
import { forgetChain, rollBack } from '../../store/outbox/rollBack.js'
import { hashesToSettle, mayBeIncluded, type SeenInclusion } from '../../store/pool/operations.js'
import { banForFailure } from '../assemble/countFailures.js'
import type { BundlingContext } from '../bundlingContext.js'
import { type Culprit, findCulprit } from './findCulprit.js'
import { findForkPoint } from './findForkPoint.js'
import { lookForExpired } from './lookForExpired.js'
import { readDataFees } from './readDataFees.js'
import { readEvents } from './readEvents.js'
import { noReceipt } from './searchInclusion.js'
import { settleReceipts } from './settleReceipts.js'

/**
 * Brings the index of inclusions to `head`: undoes what a reorg took back, then settles every
 * transaction that includes operations of ours, from our bundles' receipts and from the EntryPoints'
 * own events, in steps of `logRange` blocks. Each step is one transaction together with the block that
 * it reaches, so a crash repeats a step but never loses or doubles one. Returns whether the index has
 * reached `head`: not when the node lags behind it or the chain changed while it was read.
 */
export async function indexBlocks(context: BundlingContext, head: Head): Promise<boolean> {
  const { definition, database, node, logger, onReorg } = context
  const { chainId, logRange, finalityDepth } = definition
  const indexed = await indexedBlocks(database, chainId)
  if (indexed.length === 0) return beginIndex(context, head)
  const fork = await findForkPoint(node, indexed, head, finalityDepth)
  if (fork.kind === 'behind') return indexed[0]?.hash === head.hash
  if (fork.kind === 'reset') {
    logger.warn({ head: head.number }, 'the chain was reset: its open bundles are abandoned')
    await database.transaction().execute((trx) => forgetChain(trx, chainId))
    return beginIndex(context, head)
  }
  if (fork.kind === 'reorg') {
    const hashes = await database.transaction().execute((trx) => rollBack(trx, chainId, fork.after))
    onReorg?.(Number((indexed[0]?.number ?? fork.after) - fork.after))
    logger.warn(
      { fork: fork.after, head: head.number, ops: hashes },
      'reorg: inclusions were undone',
    )
    faultPoint('reorg:undone')
  }
  for (let from = fork.after + 1n; from <= head.number; from += BigInt(logRange)) {
    faultPoint('index:catching-up')
    const last = from + BigInt(logRange) - 1n
    const to = last < head.number ? await getBlock(node, last) : head
    if (!to || !(await indexRange(context, from, to, head))) return false
  }
  return true
}

/** Starts the index at `head`; older blocks only tell which chain it is and where it may fork. */
async function beginIndex(
  { definition, database, node }: BundlingContext,
  head: Head,
): Promise<boolean> {
  const { chainId, finalityDepth } = definition
  const anchor = head.number - BigInt(finalityDepth)
  const numbers = anchor > 0n ? [0n, anchor] : [0n]
  const older = await canonicalBlocks(node, numbers)
  await database.transaction().execute(async (trx) => {
    for (const block of [...older.values(), head]) await putBlock(trx, chainId, toBlock(block))
  })
  faultPoint('index:began')
  return true
}

/** Settles one range of blocks. False when the chain changed while it was read; the next head repeats it. */
async function indexRange(
  context: BundlingContext,
  from: bigint,
  to: Head,
  head: Head,
): Promise<boolean> {
  const { definition, database, node } = context
  const { chainId, finalityDepth } = definition
  const final = to.number - BigInt(finalityDepth)
  const looked = await lookForExpired(context, final, head)
  const receipts = await readReceipts(context, from, to, head, looked.events)
  if (receipts === undefined) return false
  const numbers = new Set(receipts.map(({ blockNumber }) => blockNumber))
  numbers.delete(to.number)
  const canonical = await canonicalBlocks(node, [...numbers])
  canonical.set(to.number, to)
  if (receipts.some(({ blockNumber, blockHash }) => canonical.get(blockNumber)?.hash !== blockHash))
    return false

  const culprits = await findCulprits(context, receipts)
  const dataFees = await readDataFees(context, receipts, canonical)
  const settles = receipts.length > 0
  if (settles) faultPoint('receipts:read')
  await database.transaction().execute(async (trx) => {
    const progress = {
      number: to.number,
      timestamp: to.timestamp,
      final,
      looked: looked.ids,
    }
    await settleReceipts(trx, context, receipts, canonical, progress, culprits, dataFees)
    await putBlock(trx, chainId, toBlock(to))
    await pruneBlocks(trx, chainId, final)
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
    const { entryPoint, stored, failure } = culprit
    await banForFailure(context, entryPoint, stored, failure)
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
  from: bigint,
  to: Head,
  head: Head,
  missed: readonly Log[],
): Promise<readonly TransactionReceipt[] | undefined> {
  const { definition, database, node } = context
  const { chainId } = definition
  const bundles = await openBundles(database, chainId)
  const awaited =
    bundles.length > 0 ||
    (await mayBeIncluded(database, chainId)) ||
    (await hasOpenReservations(database, chainId))
  if (!awaited && missed.length === 0) return []
  const attempts = bundles.flatMap((bundle) => bundle.attempts.map(({ hash }) => hash))
  const [bundleReceipts, read] = await Promise.all([
    getTransactionReceipts(node, attempts),
    readEvents(context, from, to, head),
  ])
  if (read === undefined) return undefined
  const events = [...missed, ...read]
  const seen = events.map(toSeenInclusion)
  const ourHashes = await hashesToSettle(database, chainId, seen)
  const including = new Set(
    events
      .filter((_, index) => ourHashes.has(seen[index]?.userOpHash ?? '0x'))
      .map((event) => event.transactionHash),
  )
  const otherReceipts = await getTransactionReceipts(
    node,
    [...including].filter((hash) => !attempts.includes(hash)),
  )
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

async function canonicalBlocks(
  node: BundlingContext['node'],
  numbers: readonly bigint[],
): Promise<Map<bigint, Head>> {
  if (numbers.length === 0) return new Map()
  const blocks = (await node.batch(numbers.map(headRequest))).flatMap((answer) => {
    if (!answer.ok) throw answer.error
    return decodeHead(answer.result) ?? []
  })
  return new Map(blocks.map((block) => [block.number, block]))
}

function toBlock({ number, hash }: Head): ChainBlock {
  return { number, hash }
}

import type { Hex } from 'viem'
import type { Head } from '../../chain/head.js'
import { getBlock } from '../../chain/nodeReads.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { Transaction } from '../../store/database.js'
import { type LedgerProgress, settleLedger } from '../../store/ledger/ledger.js'
import { bookTokenPayments } from '../../store/ledger/tokenPayments.js'
import { ownTransactions } from '../../store/outbox/bundles.js'
import { indexedBlocks } from '../../store/outbox/chainBlocks.js'
import {
  blameOperations,
  closeBundle,
  dropCulprit,
  releaseOperations,
} from '../../store/outbox/outbox.js'
import { putInclusions, putReceipt } from '../../store/pool/inclusions.js'
import { lockPool } from '../../store/pool/lockPool.js'
import { type Drop, hashesToSettle } from '../../store/pool/operations.js'
import { countReputations } from '../../store/pool/reputations.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Culprit } from './findCulprit.js'
import { paidOperations } from './paidOperations.js'
import { readDataFees } from './readDataFees.js'
import { MAX_ATTEMPTS } from './retryGroups.js'
import type { FoundInclusion } from './searchInclusion.js'
import { withSponsorCosts } from './withSponsorCosts.js'

/** The parts with which inclusions are settled, by the bundler or beside it. */
export type SettlingContext = Pick<
  BundlingContext,
  | 'definition'
  | 'entryPoints'
  | 'database'
  | 'node'
  | 'logger'
  | 'onBundleEnded'
  | 'onBundlePaid'
  | 'gasWatch'
>

/**
 * Writes the outcome of canonical receipts into the database, inside a transaction; doing it again
 * changes nothing. Operations of ours are included, whoever sent their bundle. A bundle of ours is
 * included or reverted, and operations that it did not include return to the pool. A transaction that
 * only used a bundle's nonce up returns its operations without counting a failure. Only events of our
 * EntryPoints' addresses count. Of a reverted bundle whose culprit is known, by transaction, that one is
 * dropped and the others return without blame. `dataFees` are wei that the chain took beside gas, by
 * transaction. The token books and the ledger of sponsorships follow; `progress` is the
 * block that the index reaches with these receipts, undefined when they were found beside it. `blocks` are theirs.
 */
export async function settleReceipts(
  trx: Transaction,
  { definition, entryPoints, logger, onBundleEnded, onBundlePaid, gasWatch }: SettlingContext,
  receipts: readonly TransactionReceipt[],
  blocks: ReadonlyMap<bigint, Head>,
  progress: LedgerProgress | undefined,
  culprits: ReadonlyMap<Hex, Culprit> = new Map(),
  dataFees: ReadonlyMap<Hex, bigint> = new Map(),
): Promise<void> {
  const { chainId } = definition
  const outcomes = receipts.flatMap((receipt) =>
    entryPoints.flatMap((entryPoint) =>
      entryPoint
        .decodeOutcomes(receipt.logs)
        .map((outcome) => ({ entryPoint: entryPoint.address, outcome })),
    ),
  )
  const ourHashes = await hashesToSettle(
    trx,
    chainId,
    outcomes.map(({ entryPoint, outcome: { userOpHash, paymaster } }) => ({
      entryPoint,
      userOpHash,
      paymaster,
    })),
  )
  const ourTransactions = await ownTransactions(
    trx,
    chainId,
    receipts.map(({ transactionHash }) => transactionHash),
  )
  const included: Hex[] = []
  for (const receipt of receipts) {
    const { transactionHash, blockNumber, gasUsed, effectiveGasPrice, status } = receipt
    const settled = outcomes.filter(
      ({ outcome: { event, userOpHash } }) =>
        event.transactionHash === transactionHash && ourHashes.has(userOpHash),
    )
    const ours = ourTransactions.get(transactionHash)
    const bundleId = ours?.bundleId
    if (!ours && settled.length === 0) continue

    await putReceipt(trx, chainId, receipt)
    const time = blocks.get(blockNumber)?.timestamp
    if (time === undefined) throw new Error(`block ${blockNumber} was not read`)
    included.push(...(await putInclusions(trx, chainId, settled, bundleId ?? null, time)))
    const ops = settled.map(({ outcome }) => outcome.userOpHash)
    const facts = { transactionHash, blockNumber, ops }
    if (!ours) {
      logger.warn(facts, 'operations were included by a bundle of someone else')
      continue
    }
    const cost = gasUsed * effectiveGasPrice + (dataFees.get(transactionHash) ?? 0n)
    if (ours.noop) {
      await closeBundle(trx, ours.bundleId, 'cancelled', transactionHash, cost)
      onBundleEnded?.('cancelled')
      onBundlePaid?.(cost, 0n)
      const released = await releaseOperations(trx, ours.bundleId)
      logger.warn({ bundleId, ...facts, cost, released }, 'the nonce was used up without a bundle')
      continue
    }
    const state = status === 1 ? 'included' : 'reverted'
    await closeBundle(trx, ours.bundleId, state, transactionHash, cost)
    onBundleEnded?.(state)
    const culprit = culprits.get(transactionHash)
    const blamed = culprit
      ? await dropCulprit(trx, chainId, ours.bundleId, dropOf(culprit))
      : await blameOperations(trx, ours.bundleId, MAX_ATTEMPTS)
    const earned = settled.reduce((sum, { outcome }) => sum + outcome.actualGasCost, 0n)
    onBundlePaid?.(cost, earned)
    const numbers = { bundleId, ...facts, gasUsed, cost, earned }
    const entryPoint = entryPoints.find(({ address }) => address === receipt.to)
    // This runs in the background; a bundle that a rollback undoes here was mined all the same.
    if (entryPoint) gasWatch?.compare({ receipt, entryPoint })
    if (state === 'included') logger.info(numbers, 'bundle included')
    else if (culprit)
      logger.warn(
        { ...numbers, culprit: dropOf(culprit) },
        'bundle reverted, its culprit is dropped',
      )
    else
      logger.warn({ ...numbers, blamed }, 'bundle reverted, its operations go in smaller ones next')
  }
  const ourOutcomes = outcomes.filter(({ outcome }) => ourHashes.has(outcome.userOpHash))
  await bookTokenPayments(trx, chainId, paidOperations(ourOutcomes))
  const ourReceipts = new Map(
    receipts
      .filter(({ transactionHash }) => ourTransactions.has(transactionHash))
      .map((receipt) => [receipt.transactionHash, receipt]),
  )
  const priced = await withSponsorCosts(trx, chainId, ourOutcomes, ourReceipts)
  await settleLedger(trx, chainId, priced, progress)
  await countReputations(trx, chainId, { included })
}

function dropOf({ stored: { hash }, failure: { code, message } }: Culprit): Drop {
  const reason = `it made a bundle fail on the chain: ${message}`
  return { hash, code: code ?? 'REVERTED', reason }
}

/**
 * Settles an inclusion found outside the index, when it concerns our books and the index has passed its
 * block. A younger block is left to the index, which notices when it is reorganised away. Nothing is
 * written when the index moves back meanwhile.
 */
export async function settleFound(
  context: SettlingContext,
  { receipt, entryPoint, outcome: { userOpHash, paymaster } }: FoundInclusion,
): Promise<void> {
  const { database, node, definition } = context
  const { chainId } = definition
  const seen = [{ entryPoint: entryPoint.address, userOpHash, paymaster }]
  if ((await hashesToSettle(database, chainId, seen)).size === 0) return
  const [newest] = await indexedBlocks(database, chainId)
  if (!newest || receipt.blockNumber > newest.number) return
  const block = await getBlock(node, receipt.blockNumber)
  if (block?.hash !== receipt.blockHash) return
  const blocks = new Map([[block.number, block]])
  const dataFees = await readDataFees(context, [receipt], blocks)
  await database.transaction().execute(async (trx) => {
    // A rollback takes the same lock first, so it comes before this look or undoes what is written here.
    await lockPool(trx, chainId)
    const indexed = await indexedBlocks(trx, chainId)
    if (!indexed.some(({ number, hash }) => number === newest.number && hash === newest.hash))
      return
    await settleReceipts(trx, context, [receipt], blocks, undefined, undefined, dataFees)
  })
}

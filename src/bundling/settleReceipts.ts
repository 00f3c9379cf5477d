import type { Kysely } from 'kysely'
import { getBlock } from '../chain/nodeReads.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import { blameOperations, bundlesOfTransactions, closeBundle } from '../store/bundles.js'
import { indexedBlocks } from '../store/chainBlocks.js'
import { putInclusions, putReceipt } from '../store/inclusions.js'
import { knownHashes } from '../store/operations.js'
import type { Schema } from '../store/schema.js'
import type { BundlingContext } from './bundlingContext.js'
import type { FoundInclusion } from './searchInclusion.js'

/** How often a bundle may fail on the chain before its last suspect is dropped. */
export const maxAttempts = 3

/**
 * Writes down what canonical receipts say, inside a transaction and as often as one likes: operations
 * of ours are included, whoever carried them; a bundle of ours is included or reverted, and what it
 * did not include returns to the pool. Only events of our EntryPoints' own addresses count.
 */
export async function settleReceipts(
  trx: Kysely<Schema>,
  { definition, entryPoints, logger }: BundlingContext,
  receipts: readonly TransactionReceipt[],
): Promise<void> {
  const { chainId } = definition
  const outcomes = receipts.flatMap((receipt) =>
    entryPoints.flatMap((entryPoint) =>
      entryPoint
        .decodeOutcomes(receipt.logs)
        .map((outcome) => ({ entryPoint: entryPoint.address, outcome })),
    ),
  )
  const hashes = outcomes.map(({ outcome }) => outcome.userOpHash)
  const known = await knownHashes(trx, chainId, hashes)
  const ours = await bundlesOfTransactions(
    trx,
    chainId,
    receipts.map(({ transactionHash }) => transactionHash),
  )
  for (const receipt of receipts) {
    const { transactionHash, blockNumber, gasUsed, effectiveGasPrice, status } = receipt
    const settled = outcomes.filter(
      ({ outcome: { event, userOpHash } }) =>
        event.transactionHash === transactionHash && known.has(userOpHash),
    )
    const bundleId = ours.get(transactionHash)
    if (bundleId === undefined && settled.length === 0) continue

    await putReceipt(trx, chainId, receipt)
    await putInclusions(trx, chainId, settled, bundleId ?? null)
    const facts = { transactionHash, blockNumber, operations: settled.length }
    if (bundleId === undefined) {
      logger.warn(facts, 'operations were included by a bundle of someone else')
      continue
    }
    const state = status === 1 ? 'included' : 'reverted'
    await closeBundle(trx, bundleId, state, transactionHash)
    const blamed = await blameOperations(trx, bundleId, maxAttempts)
    const cost = gasUsed * effectiveGasPrice
    const earned = settled.reduce((sum, { outcome }) => sum + outcome.actualGasCost, 0n)
    const numbers = { bundleId, ...facts, gasUsed, cost, earned }
    if (state === 'included') logger.info(numbers, 'bundle included')
    else logger.warn({ ...numbers, blamed }, 'bundle reverted, its operations run alone next')
  }
}

/**
 * Settles an inclusion found outside the index, when the index has passed its block. A younger block
 * is left to the index, which notices when it is reorganised away.
 */
export async function settleFound(
  context: BundlingContext,
  { receipt }: FoundInclusion,
): Promise<void> {
  const { database, node, definition } = context
  const [newest] = await indexedBlocks(database, definition.chainId)
  if (!newest || receipt.blockNumber > newest.number) return
  const block = await getBlock(node, receipt.blockNumber)
  if (block?.hash !== receipt.blockHash) return
  await database.transaction().execute((trx) => settleReceipts(trx, context, [receipt]))
}

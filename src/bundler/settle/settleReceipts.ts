import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import { decodeAbiParameters, toEventSelector } from 'viem/utils'
import type { Head } from '../../chain/head.js'
import { getBlock } from '../../chain/nodeReads.js'
import type { TransactionReceipt } from '../../chain/transactionReceipt.js'
import type { Transaction } from '../../db/database.js'
import { pipelined } from '../../db/pipelined.js'
import { zeroAddress } from '../../erc4337/encoding/constants.js'
import type { Included } from '../../erc4337/entryPoint.js'
import type { Drop } from '../../mempool/pool/operations.js'
import { countReputations } from '../../mempool/pool/reputations.js'
import { type LedgerProgress, settleLedger } from '../../paymaster/ledger/ledger.js'
import { bookTokenPayments, type PaidOperation } from '../../paymaster/ledger/tokenPayments.js'
import type { BundlingContext } from '../bundlingContext.js'
import { readDataFees } from '../dataFees.js'
import { ownTransactions } from '../outbox/bundles.js'
import { indexedBlocks, lockIndex } from '../outbox/chainBlocks.js'
import {
  findInclusion,
  hashesToSettle,
  markUncovered,
  putInclusions,
  putReceipts,
} from '../outbox/inclusions.js'
import {
  blameOperations,
  closeBundles,
  dropCulprit,
  MAX_ATTEMPTS,
  releaseOperations,
} from '../outbox/outbox.js'
import { putSurpluses } from '../outbox/surpluses.js'
import type { Culprit } from './findCulprit.js'
import type { Loss } from './findLosses.js'
import type { FoundInclusion } from './readEvents.js'
import { withSponsorCosts } from './sponsorCosts.js'

/** The parts with which inclusions are settled, by the bundler or without it. */
type SettlingContext = Pick<
  BundlingContext,
  | 'definition'
  | 'entryPoints'
  | 'database'
  | 'node'
  | 'logger'
  | 'metrics'
  | 'gasWatch'
  | 'bundleWitness'
  | 'minedBundle'
>

/** Facts that the receipts themselves do not hold, by transaction. */
type Found = {
  readonly culprits?: ReadonlyMap<Hex, Culprit>
  readonly losses?: ReadonlyMap<Hex, Loss>
  /** wei that the chain charged on top of gas */
  readonly dataFees: ReadonlyMap<Hex, bigint>
}

/** Counts and logs a bundle that its charges do not pay for, and one with operations that are in no book. */
function reportUncovered(
  { logger, metrics }: Pick<SettlingContext, 'logger' | 'metrics'>,
  numbers: { readonly ops: readonly Hex[] },
  loss: Loss | undefined,
  emitted: number,
  booked: number,
): void {
  if (loss) {
    metrics.count('purser_bundles_uncovered_total', { kind: 'charge' })
    logger.error({ ...numbers, ...loss }, 'a bundle cost more than its operations were charged')
  }
  if (booked < emitted) {
    metrics.count('purser_bundles_uncovered_total', { kind: 'books' })
    logger.error({ ...numbers, emitted }, 'a bundle has operations that are not in the ledger')
  }
}

function logRevert(
  logger: Logger,
  facts: { readonly culprit: object | undefined; readonly blamed: unknown },
): void {
  const next = facts.culprit
    ? 'the operation at fault is dropped'
    : 'its operations are retried in smaller bundles'
  logger.warn(facts, `bundle reverted, ${next}`)
}

/**
 * Writes the outcome of canonical receipts into the database, inside a transaction; doing it again
 * changes nothing. Operations of ours count as included in anyone's bundle. A bundle of ours is
 * included or reverted, and operations that it did not include return to the pool. A transaction that
 * only used a bundle's nonce up returns its operations without counting a failure. Only events of our
 * EntryPoints' addresses count. Of a reverted bundle whose culprit is known that one is dropped and the others
 * return without blame. Operations that caused a loss are marked, so that their senders are paused (`checkReverts`).
 * The token books and the ledger of sponsorships follow; `progress` is the block that the index reaches with these
 * receipts, undefined when the indexer did not find them. `blocks` are theirs.
 */
export async function settleReceipts(
  trx: Transaction,
  { definition, entryPoints, logger, metrics, ...context }: SettlingContext,
  receipts: readonly TransactionReceipt[],
  blocks: ReadonlyMap<bigint, Head>,
  progress: LedgerProgress | undefined,
  { culprits, losses, dataFees }: Found,
): Promise<void> {
  const { chainId } = definition
  const outcomes = receipts.flatMap((receipt) =>
    entryPoints.flatMap((entryPoint) =>
      entryPoint
        .decodeOutcomes(receipt.logs)
        .map((outcome) => ({ entryPoint: entryPoint.address, outcome })),
    ),
  )
  const seen = outcomes.map(({ entryPoint, outcome: { userOpHash, paymaster } }) => ({
    entryPoint,
    userOpHash,
    paymaster,
  }))
  const transactions = receipts.map(({ transactionHash }) => transactionHash)
  const ourHashes = await hashesToSettle(trx, chainId, seen)
  const ourTransactions = await ownTransactions(trx, chainId, transactions)
  const settling = receipts.flatMap((receipt): Settling[] => {
    const { transactionHash, blockNumber, status } = receipt
    const settled = outcomes.filter(
      ({ outcome: { event, userOpHash } }) =>
        event.transactionHash === transactionHash && ourHashes.has(userOpHash),
    )
    const own = ourTransactions.get(transactionHash)
    if (!own && settled.length === 0) return []
    const time = blocks.get(blockNumber)?.timestamp
    if (time === undefined) throw new Error(`block ${blockNumber} was not read`)
    const ours = own && {
      id: own.bundleId,
      state: stateOf(own, status),
      cost: costOf(receipt, dataFees),
    }
    return [{ receipt, settled, ours, time }]
  })
  const included = await putSettled(trx, chainId, settling)
  for (const { receipt, settled, ours } of settling) {
    const { transactionHash, blockNumber, gasUsed } = receipt
    const ops = settled.map(({ outcome }) => outcome.userOpHash)
    const facts = { transactionHash, blockNumber, ops }
    if (!ours) {
      logger.warn(facts, 'operations were included in a bundle of another bundler')
      continue
    }
    const { id: bundleId, state, cost } = ours
    metrics.count('purser_bundles_total', { state })
    metrics.count('purser_bundle_cost_wei_total', {}, Number(cost))
    if (state === 'cancelled') {
      const released = await releaseOperations(trx, bundleId)
      logger.warn({ bundleId, ...facts, cost, released }, 'the nonce was used without a bundle')
      continue
    }
    // An operation may carry a bundle of somebody else, for another EntryPoint, inside its call.
    const emitted = outcomes.filter(
      ({ entryPoint: address, outcome }) =>
        address === receipt.to && outcome.event.transactionHash === transactionHash,
    )
    const booked = settled.filter(({ entryPoint: address }) => address === receipt.to)
    const earned = booked.reduce((sum, { outcome }) => sum + outcome.actualGasCost, 0n)
    metrics.count('purser_bundle_earned_wei_total', {}, Number(earned))
    const numbers = { bundleId, ...facts, gasUsed, cost, earned }
    const loss = losses?.get(transactionHash)
    if (loss) await markUncovered(trx, chainId, loss.causes)
    reportUncovered({ logger, metrics }, numbers, loss, emitted.length, booked.length)
    const entryPoint = entryPoints.find(({ address }) => address === receipt.to)
    // This runs in the background; a bundle that a rollback undoes here was mined all the same.
    const mined = entryPoint && context.minedBundle?.(receipt, entryPoint)
    if (mined) context.gasWatch?.compare(mined)
    const hasFailed = state !== 'included' || emitted.some(({ outcome }) => !outcome.success)
    if (mined && hasFailed) context.bundleWitness?.take(mined)
    if (state === 'included') {
      logger.info(numbers, 'bundle included')
      continue
    }
    const culprit = culprits?.get(transactionHash)
    const drop = culprit && dropOf(culprit)
    const blamed = drop
      ? await dropCulprit(trx, chainId, bundleId, drop)
      : await blameOperations(trx, [bundleId], MAX_ATTEMPTS)
    logRevert(logger, { ...numbers, culprit: drop, blamed })
  }
  const ourOutcomes = outcomes.filter(({ outcome }) => ourHashes.has(outcome.userOpHash))
  await bookTokenPayments(trx, chainId, paidOperations(ourOutcomes))
  const bundles = new Map(
    settling.flatMap(({ receipt, ours }) =>
      ours ? [[receipt.transactionHash, { receipt, cost: ours.cost }] as const] : [],
    ),
  )
  const costs = await withSponsorCosts(trx, { definition, entryPoints }, ourOutcomes, bundles)
  await settleLedger(trx, chainId, costs.priced, progress)
  await putSurpluses(trx, chainId, costs.surpluses)
  await countReputations(trx, chainId, { included })
}

/** A receipt to settle, its inclusions that our books must know, and the bundle of ours that it ends. */
type Settling = {
  readonly receipt: TransactionReceipt
  readonly settled: readonly Included[]
  readonly ours:
    | { readonly id: bigint; readonly state: ReturnType<typeof stateOf>; readonly cost: bigint }
    | undefined
  /** Unix seconds of its block. */
  readonly time: number
}

/**
 * Stores receipts and inclusions, and ends the bundles, in a few statements for all of them. Returns the hashes that
 * reputations count.
 */
async function putSettled(
  trx: Transaction,
  chainId: number,
  settling: readonly Settling[],
): Promise<Hex[]> {
  const receipts = settling.map(({ receipt }) => receipt)
  const placed = settling.flatMap(({ settled, ours, time }) =>
    settled.map((each) => ({ ...each, bundleId: ours?.id, time })),
  )
  const ended = settling.flatMap(({ receipt: { transactionHash }, ours }) =>
    ours ? { ...ours, transactionHash } : [],
  )
  const whole = ended.filter(({ state }) => state === 'included').map(({ id }) => id)
  return pipelined(trx, async (statements) => {
    const [, counted] = await Promise.all([
      putReceipts(statements, chainId, receipts),
      putInclusions(statements, chainId, placed),
      closeBundles(statements, ended),
      // Of a bundle that is included only the operations that it left out are still in it.
      blameOperations(statements, whole, MAX_ATTEMPTS),
    ])
    return counted
  })
}

/** The end of a bundle, by the transaction that was mined for it. */
function stateOf(
  { noop }: { readonly noop: boolean },
  status: number,
): 'included' | 'reverted' | 'cancelled' {
  if (noop) return 'cancelled'
  return status === 1 ? 'included' : 'reverted'
}

/** wei that a transaction cost its sender: gas, and what the chain took for data */
function costOf(
  { gasUsed, effectiveGasPrice, transactionHash }: TransactionReceipt,
  dataFees: ReadonlyMap<Hex, bigint>,
): bigint {
  return gasUsed * effectiveGasPrice + (dataFees.get(transactionHash) ?? 0n)
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
  // Where the index was faster, its transaction has settled the whole receipt.
  const known = await findInclusion(database, chainId, userOpHash)
  if (known?.blockHash === receipt.blockHash) return
  const [newest] = await indexedBlocks(database, chainId)
  if (!newest || receipt.blockNumber > newest.number) return
  const block = await getBlock(node, receipt.blockNumber)
  if (block?.hash !== receipt.blockHash) return
  const blocks = new Map([[block.number, block]])
  const dataFees = await readDataFees(context, [receipt], blocks)
  await database.transaction().execute(async (trx) => {
    // A rollback takes the same lock first, so it comes before this look or undoes what is written here.
    await lockIndex(trx, chainId)
    const indexed = await indexedBlocks(trx, chainId)
    if (!indexed.some(({ number, hash }) => number === newest.number && hash === newest.hash))
      return
    await settleReceipts(trx, context, [receipt], blocks, undefined, { dataFees })
  })
}

/** The event with which a token tank reports the tokens that it took for an operation. */
const tokensPaidTopic = toEventSelector(
  'event TokensPaid(bytes32 indexed userOpHash, address indexed sender, address indexed token, uint256 charged, uint256 cost)',
)

const amounts = [{ type: 'uint256' }, { type: 'uint256' }] as const

/** Included operations that a paymaster paid, with the tokens that it reports to have taken. */
export function paidOperations(included: readonly Included[]): PaidOperation[] {
  return included
    .filter(({ outcome }) => outcome.paymaster !== zeroAddress)
    .map(({ entryPoint, outcome }) => {
      const { userOpHash, paymaster, sender, nonce, actualGasCost, event } = outcome
      const { blockNumber } = event
      const taken = takenBy(paymaster, outcome)
      return { entryPoint, userOpHash, paymaster, sender, nonce, actualGasCost, blockNumber, taken }
    })
}

function takenBy(
  paymaster: Address,
  { userOpHash, logs }: Included['outcome'],
): PaidOperation['taken'] {
  const log = logs.find(
    ({ address, topics: [topic, hash], data }) =>
      address === paymaster &&
      topic === tokensPaidTopic &&
      hash === userOpHash &&
      data.length === 2 + 2 * 64,
  )
  if (log === undefined) return undefined
  const [charged, cost] = decodeAbiParameters(amounts, log.data)
  return { token: `0x${log.topics[3]?.slice(-40) ?? ''}`, charged, cost }
}

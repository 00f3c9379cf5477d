import type { Address, Hex } from 'viem'
import { Lru } from '../base/lru.js'
import { delegateOf } from '../chain/delegations.js'
import type { HeadFollower } from '../chain/headFollower.js'
import { getCode } from '../chain/nodeReads.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Database } from '../db/database.js'
import { DELEGATION_MARKER } from '../erc4337/delegation.js'
import type { EntryPoint, OperationOutcome } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { findOperation, isPending, type StoredOperation } from '../mempool/pool/operations.js'
import type { BundlingContext } from './bundlingContext.js'
import { attemptsOf, latestAttempt, minedTransaction } from './outbox/bundles.js'
import { findInclusion, findReceipt, type StoredInclusion } from './outbox/inclusions.js'
import { type FoundInclusion, searchInclusion } from './settle/readEvents.js'
import { settleFound } from './settle/settleReceipts.js'

/** The answer of eth_getUserOperationReceipt, before a dialect writes it. */
export type OperationReceipt = OperationOutcome & {
  readonly entryPoint: Address
  readonly receipt: TransactionReceipt
  /** Blocks on top of and including the bundle's block, at the current head; 0 while preconfirmed. */
  readonly confirmations: number
  /** The pending block shows the inclusion, and no block does: the sequencer may break its word. */
  readonly preconfirmed?: true
}

/** The answer of eth_getUserOperationByHash, before a dialect writes it. Block fields are undefined while pending. */
export type OperationByHash = {
  readonly operation: Operation
  /** The app that sent it to us; undefined = somebody else's, from the chain. */
  readonly appId?: string
  readonly entryPoint: Address
  readonly blockNumber: bigint | undefined
  readonly blockHash: Hex | undefined
  readonly transactionHash: Hex | undefined
}

/** The answer of biconomy_getUserOperationStatus, before a dialect writes it. */
export type OperationStatus = {
  readonly state:
    | 'BUNDLER_MEMPOOL'
    | 'SUBMITTED'
    | 'CONFIRMED'
    | 'FAILED'
    | 'DROPPED_FROM_BUNDLER_MEMPOOL'
  readonly message: string | undefined
  /** The code with which it left the pool. */
  readonly reasonCode?: string | undefined
  readonly transactionHash: Hex | undefined
  readonly receipt: OperationReceipt | undefined
  /** As in a receipt; the state stays SUBMITTED. */
  readonly preconfirmed?: true
}

/** The parts with which questions about operations of one chain are answered. */
export type ViewContext = Omit<
  BundlingContext,
  'engine' | 'rules' | 'signers' | 'treasury' | 'problems'
> & {
  readonly heads: Pick<HeadFollower, 'current'>
  readonly receipts: ReceiptMemory
}

/**
 * An operation as it was sent, with the block that included it. Operations that were sent to us come
 * from the database, pending ones too; others from the input of the transaction that included them in
 * the last `logRange` blocks: undefined when that transaction does not call handleOps itself.
 */
export async function operationByHash(
  context: ViewContext,
  hash: Hex,
): Promise<OperationByHash | undefined> {
  const { database, definition } = context
  const stored = await findOperation(database, definition.chainId, hash)
  if (!stored) return fromChain(context, hash)
  const inclusion = await findInclusion(database, definition.chainId, hash)
  return {
    operation: stored.operation,
    appId: stored.appId,
    entryPoint: stored.entryPoint,
    blockNumber: inclusion?.blockNumber,
    blockHash: inclusion?.blockHash,
    transactionHash: inclusion?.transactionHash,
  }
}

async function fromChain(context: ViewContext, hash: Hex): Promise<OperationByHash | undefined> {
  const { heads, node } = context
  const inclusion = await searchInclusion(context, hash, heads.current().number)
  if (!inclusion) return undefined
  const { entryPoint, outcome, receipt } = inclusion
  const { transactionHash, blockNumber, blockHash } = receipt
  const transaction = await node.request<{ input: Hex } | null>('eth_getTransactionByHash', [
    transactionHash,
  ])
  const carried = transaction ? entryPoint.decodeHandleOps(transaction.input) : undefined
  const { sender, nonce } = outcome
  const candidate = carried?.find((op) => op.sender === sender && op.nonce === nonce)
  // Only the hash proves the calldata: a contract may pass other operations on.
  const isSame = candidate && (await hashAt(context, entryPoint, candidate, blockNumber)) === hash
  const operation = isSame ? candidate : undefined
  return (
    operation && {
      operation,
      entryPoint: entryPoint.address,
      blockNumber,
      blockHash,
      transactionHash,
    }
  )
}

/** The hash of an operation included in this block, which may cover its sender's delegate (EIP-7702). */
async function hashAt(
  { definition, node }: ViewContext,
  entryPoint: EntryPoint,
  op: Operation,
  block: bigint,
): Promise<Hex | undefined> {
  if (op.factory !== DELEGATION_MARKER) return entryPoint.hash(op, definition.chainId)
  const delegate = delegateOf(await getCode(node, op.sender, block))
  return delegate && entryPoint.hash(op, definition.chainId, delegate)
}

/**
 * The receipt of an included operation, from our index; undefined while there is none. An operation
 * that we do not hold, or have dropped, is searched on the chain, in the last `logRange` blocks, and an
 * inclusion that the books lack is settled.
 */
export async function operationReceipt(
  context: ViewContext,
  hash: Hex,
): Promise<OperationReceipt | undefined> {
  const { chainId } = context.definition
  let readBefore: Hex | undefined
  for (;;) {
    const stored = await findInclusion(context.database, chainId, hash)
    if (stored === undefined) break
    const { transactionHash, blockHash } = stored
    const receipt = await context.receipts(transactionHash, blockHash)
    if (receipt) return storedReceipt(context, stored, receipt)
    // Between the two reads a reorg moved it to another block, or undid it.
    if (blockHash === readBefore)
      throw new Error(`${transactionHash} is stored without its receipt`)
    readBefore = blockHash
  }
  if (await isPending(context.database, chainId, hash)) return undefined
  const inclusion = await searchInclusion(context, hash, context.heads.current().number)
  if (inclusion === undefined) return undefined
  await correctBooks(context, inclusion)
  return toReceipt(context, inclusion)
}

function storedReceipt(
  context: ViewContext,
  { outcome, entryPoint: address, logs: [first, last] }: StoredInclusion,
  receipt: TransactionReceipt,
): OperationReceipt {
  const logs = receipt.logs.filter(({ logIndex }) => logIndex >= first && logIndex <= last)
  const event = logs.at(-1)
  if (event === undefined) throw new Error(`the receipt of ${outcome.userOpHash} has no event`)
  return toReceipt(context, {
    outcome: { ...outcome, event, logs },
    entryPoint: { address },
    receipt,
  })
}

/**
 * Settles an inclusion that the index has missed. The answer to the caller does not depend on it; what is
 * not settled here is found when its reservation expires.
 */
async function correctBooks(context: ViewContext, inclusion: FoundInclusion): Promise<void> {
  try {
    await settleFound(context, inclusion)
  } catch (err) {
    const { userOpHash: op } = inclusion.outcome
    context.logger.warn({ err, op }, 'an inclusion was found and not settled')
  }
}

type FoundReceipt = Pick<FoundInclusion, 'outcome' | 'receipt'> & {
  readonly entryPoint: Pick<FoundInclusion['entryPoint'], 'address'>
}

function toReceipt(
  { heads }: ViewContext,
  { outcome, entryPoint, receipt }: FoundReceipt,
): OperationReceipt {
  const confirmations = Number(heads.current().number - receipt.blockNumber) + 1
  return {
    ...outcome,
    entryPoint: entryPoint.address,
    receipt,
    confirmations: Math.max(confirmations, 1),
  }
}

const CONFIRMED = 'Transaction is confirmed'
const PRECONFIRMED = 'Transaction is preconfirmed'
/** The spelling is what clients of this interface know. */
const FRONT_RUN = 'Transaction was frontrunned, check the new transaction hash in receipt'

/**
 * The state of an operation; undefined when neither the database nor the recent chain has it. CONFIRMED
 * means that it is on the chain; `receipt.success` says whether its call succeeded. FAILED means that
 * the bundles with it reverted until it was dropped. DROPPED_FROM_BUNDLER_MEMPOOL has the reason in
 * `message`. What the sequencer has only promised is SUBMITTED, and `preconfirmed`.
 */
export async function operationStatus(
  context: ViewContext,
  hash: Hex,
): Promise<OperationStatus | undefined> {
  const { database, definition } = context
  const stored = await findOperation(database, definition.chainId, hash)
  if (stored?.state === 'pooled') return pending('BUNDLER_MEMPOOL', undefined)
  if (stored?.state === 'bundled' && stored.bundleId !== null) {
    const promised = await preconfirmedTransaction(context, stored)
    if (promised) return { ...pending('SUBMITTED', promised), ...preconfirmed }
    return pending('SUBMITTED', await latestAttempt(database, stored.bundleId))
  }
  const receipt = await operationReceipt(context, hash)
  if (receipt) return included(receipt, stored)
  return stored && dropped(context, stored)
}

const preconfirmed = { message: PRECONFIRMED, preconfirmed: true } as const

function pending(
  state: 'BUNDLER_MEMPOOL' | 'SUBMITTED',
  transactionHash: Hex | undefined,
): OperationStatus {
  return { state, message: undefined, transactionHash, receipt: undefined }
}

function included(receipt: OperationReceipt, stored: StoredOperation | undefined): OperationStatus {
  const isForeignBundle = stored !== undefined && stored.bundleId === null
  return {
    state: 'CONFIRMED',
    message: isForeignBundle ? FRONT_RUN : CONFIRMED,
    transactionHash: receipt.receipt.transactionHash,
    receipt,
  }
}

async function dropped(
  { database }: ViewContext,
  { bundleId, reason, reasonCode }: StoredOperation,
): Promise<OperationStatus> {
  const transactionHash = bundleId === null ? undefined : await minedTransaction(database, bundleId)
  return {
    state: transactionHash ? 'FAILED' : 'DROPPED_FROM_BUNDLER_MEMPOOL',
    message: reason ?? undefined,
    reasonCode: reasonCode ?? undefined,
    transactionHash,
    receipt: undefined,
  }
}

/**
 * The transaction with a bundled operation that the pending block shows: the sequencer has promised it and may break
 * its word. Undefined on a chain whose pending block is no promise, and for operations that others carry.
 */
async function preconfirmedTransaction(
  { database, pending }: ViewContext,
  { state, bundleId }: Pick<StoredOperation, 'state' | 'bundleId'>,
): Promise<Hex | undefined> {
  if (pending === undefined || state !== 'bundled' || bundleId === null) return undefined
  const [promised, attempts] = await Promise.all([
    pending.transactions(),
    attemptsOf(database, bundleId),
  ])
  return attempts.find((hash) => promised.has(hash))
}

/** The receipt that the node has of a promised inclusion; undefined where it has none. */
export async function preconfirmedReceipt(
  context: ViewContext,
  userOpHash: Hex,
): Promise<OperationReceipt | undefined> {
  const { database, definition, entryPoints } = context
  const stored = await findOperation(database, definition.chainId, userOpHash)
  const hash = stored && (await preconfirmedTransaction(context, stored))
  const receipt = hash && (await context.pending?.receipt(hash))
  const entryPoint = entryPoints.find(({ address }) => address === stored?.entryPoint)
  const outcome = entryPoint
    ?.decodeOutcomes(receipt?.logs ?? [])
    .find((each) => each.userOpHash === userOpHash)
  if (!receipt || !entryPoint || !outcome) return undefined
  const { address } = entryPoint
  return { ...outcome, entryPoint: address, receipt, confirmations: 0, preconfirmed: true }
}

/** The stored receipt of a transaction in this block; undefined where it has left the block. */
type ReceiptMemory = (
  transactionHash: Hex,
  blockHash: Hex,
) => Promise<TransactionReceipt | undefined>

/** Receipts take some 100 kB each; clients ask for the newest. */
const MAX_RECEIPTS = 16

/**
 * A memory of the newest receipts as objects: the receipt of a bundle holds the logs of all its
 * operations, and each of their senders asks for it.
 */
export function createReceiptMemory(database: Database, chainId: number): ReceiptMemory {
  const receipts = new Lru<Hex, TransactionReceipt>(MAX_RECEIPTS)
  return async (transactionHash, blockHash) => {
    const remembered = receipts.get(transactionHash)
    if (remembered?.blockHash === blockHash) return remembered
    const receipt = await findReceipt<TransactionReceipt>(database, chainId, transactionHash)
    if (receipt?.blockHash !== blockHash) return undefined
    receipts.set(transactionHash, receipt)
    return receipt
  }
}

import type { Hex } from 'viem'
import { latestAttempt, minedTransaction } from '../store/outbox/bundles.js'
import { findOperation, type StoredOperation } from '../store/pool/operations.js'
import { operationReceipt } from './operationReceipt.js'
import type { OperationReceipt, OperationStatus } from './operationViews.js'
import { preconfirmedTransaction } from './preconfirmation.js'
import type { ViewContext } from './viewContext.js'

const CONFIRMED = 'Transaction is confirmed'
const PRECONFIRMED = 'Transaction is preconfirmed'
/** The spelling is what clients of this interface know. */
const FRONT_RUN = 'Transaction was frontrunned, check the new transaction hash in receipt'

/**
 * The state of an operation; undefined when neither the database nor the recent chain has it. CONFIRMED
 * means that it is on the chain; `receipt.success` tells whether its call succeeded. FAILED means that
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
  { bundleId, reason }: StoredOperation,
): Promise<OperationStatus> {
  const transactionHash = bundleId === null ? undefined : await minedTransaction(database, bundleId)
  return {
    state: transactionHash ? 'FAILED' : 'DROPPED_FROM_BUNDLER_MEMPOOL',
    message: reason ?? undefined,
    transactionHash,
    receipt: undefined,
  }
}

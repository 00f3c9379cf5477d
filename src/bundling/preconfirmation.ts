import type { Hex } from 'viem'
import { NodeRpcError, NodeUnavailableError } from '../chain/nodeErrors.js'
import { getTransactionReceipt } from '../chain/nodeReads.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import { attemptsOf } from '../store/outbox/bundles.js'
import { findOperation, type StoredOperation } from '../store/pool/operations.js'
import type { OperationReceipt } from './operationViews.js'
import type { ViewContext } from './viewContext.js'

/**
 * The transaction with a bundled operation that the pending block shows: the sequencer has promised it and may break
 * its word. Undefined on a chain whose pending block is no promise, and for operations that others carry.
 */
export async function preconfirmedTransaction(
  { database, pending }: ViewContext,
  { state, bundleId }: Pick<StoredOperation, 'state' | 'bundleId'>,
): Promise<Hex | undefined> {
  if (pending === undefined || state !== 'bundled' || bundleId === null) return undefined
  const [promised, attempts] = await Promise.all([pending(), attemptsOf(database, bundleId)])
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
  const receipt = hash && (await receiptIfServed(context, hash))
  const entryPoint = entryPoints.find(({ address }) => address === stored?.entryPoint)
  const outcome = entryPoint
    ?.decodeOutcomes(receipt?.logs ?? [])
    .find((each) => each.userOpHash === userOpHash)
  if (!receipt || !entryPoint || !outcome) return undefined
  const { address } = entryPoint
  return { ...outcome, entryPoint: address, receipt, confirmations: 0, preconfirmed: true }
}

async function receiptIfServed(
  { node }: ViewContext,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  try {
    return await getTransactionReceipt(node, hash)
  } catch (error) {
    if (error instanceof NodeRpcError || error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

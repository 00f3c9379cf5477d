import type { Hex } from 'viem'
import { findInclusion } from '../store/inclusions.js'
import { findOperation } from '../store/operations.js'
import type { OperationByHash } from './operationViews.js'
import { searchInclusion } from './searchInclusion.js'
import type { ViewContext } from './viewContext.js'

/**
 * An operation as it was sent, with the block that included it. Ours come from the database, pending
 * ones too; others from the input of the transaction that included them in the last `logRange` blocks.
 * Undefined when that transaction does not call handleOps itself.
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
    entryPoint: stored.entryPoint,
    blockNumber: inclusion?.blockNumber,
    blockHash: inclusion?.blockHash,
    transactionHash: inclusion?.transactionHash,
  }
}

async function fromChain(context: ViewContext, hash: Hex): Promise<OperationByHash | undefined> {
  const { definition, heads, node } = context
  const found = await searchInclusion(context, hash, heads.current().number)
  if (!found) return undefined
  const { entryPoint, receipt } = found
  const { transactionHash, blockNumber, blockHash } = receipt
  const transaction = await node.request<{ input: Hex } | null>('eth_getTransactionByHash', [
    transactionHash,
  ])
  const operation = transaction
    ? entryPoint
        .decodeHandleOps(transaction.input)
        ?.find((op) => entryPoint.hash(op, definition.chainId) === hash)
    : undefined
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

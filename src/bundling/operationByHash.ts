import type { Hex } from 'viem'
import { delegateOf } from '../chain/delegations.js'
import { getCode } from '../chain/nodeReads.js'
import { DELEGATION_MARKER } from '../entrypoint/delegation.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { findInclusion } from '../store/pool/inclusions.js'
import { findOperation } from '../store/pool/operations.js'
import type { OperationByHash } from './operationViews.js'
import { searchInclusion } from './settle/searchInclusion.js'
import type { ViewContext } from './viewContext.js'

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

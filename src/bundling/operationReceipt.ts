import type { Hex } from 'viem'
import { findInclusion } from '../store/pool/inclusions.js'
import { findOperation } from '../store/pool/operations.js'
import type { OperationReceipt } from './operationViews.js'
import { type FoundInclusion, searchInclusion } from './settle/searchInclusion.js'
import { settleFound } from './settle/settleReceipts.js'
import type { ViewContext } from './viewContext.js'

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
    const { outcome, entryPoint, transactionHash, blockHash } = stored
    const receipt = await context.receipts(transactionHash, blockHash)
    if (receipt)
      return toReceipt(context, { outcome, entryPoint: { address: entryPoint }, receipt })
    // Between the two reads a reorg moved it to another block, or undid it.
    if (blockHash === readBefore)
      throw new Error(`${transactionHash} is stored without its receipt`)
    readBefore = blockHash
  }
  const operation = await findOperation(context.database, chainId, hash)
  if (operation?.state === 'pooled' || operation?.state === 'bundled') return undefined
  const inclusion = await searchInclusion(context, hash, context.heads.current().number)
  if (inclusion === undefined) return undefined
  await mendBooks(context, inclusion)
  return toReceipt(context, inclusion)
}

/**
 * Settles an inclusion that the index has missed. The answer to the caller does not depend on it; what is
 * not settled here is found when its reservation expires.
 */
async function mendBooks(context: ViewContext, inclusion: FoundInclusion): Promise<void> {
  try {
    await settleFound(context, inclusion)
  } catch (err) {
    const { userOpHash: op } = inclusion.outcome
    context.logger.warn({ err, op }, 'an inclusion that was found was not settled')
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

import type { Hex } from 'viem'
import { Lru } from '../base/lru.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Database } from '../store/database.js'
import { findReceipt } from '../store/pool/inclusions.js'

/** The stored receipt of a transaction in this block; undefined where it has left the block. */
export type ReceiptMemory = (
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

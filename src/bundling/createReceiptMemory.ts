import type { Hex } from 'viem'
import { Lru } from '../base/lru.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Database } from '../store/database.js'
import { findReceipt } from '../store/pool/inclusions.js'

/** The stored receipt of a transaction as it is in this block; undefined where it is no longer. */
export type ReceiptMemory = (
  transactionHash: Hex,
  blockHash: Hex,
) => Promise<TransactionReceipt | undefined>

/** Some 100 kB each; clients ask for the newest. */
const MAX_RECEIPTS = 16

/**
 * Keeps the newest receipts as objects: a bundle's holds the logs of all its operations, and each of
 * their senders asks for it.
 */
export function createReceiptMemory(database: Database, chainId: number): ReceiptMemory {
  const known = new Lru<Hex, TransactionReceipt>(MAX_RECEIPTS)
  return async (transactionHash, blockHash) => {
    const before = known.get(transactionHash)
    if (before?.blockHash === blockHash) return before
    const receipt = await findReceipt<TransactionReceipt>(database, chainId, transactionHash)
    if (receipt?.blockHash !== blockHash) return undefined
    known.set(transactionHash, receipt)
    return receipt
  }
}

import type { Hex } from 'viem'
import type { NodeClient } from '../chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../chain/nodeErrors.js'
import { getTransactionReceipt } from '../chain/nodeReads.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'

/** What the node's pending block shows. */
export type PendingBlock = {
  /** The hashes of its transactions; empty where it shows none. */
  transactions(): Promise<ReadonlySet<Hex>>
  /** The receipt that the node has of one of them; undefined where it has none. */
  receipt(hash: Hex): Promise<TransactionReceipt | undefined>
}

/** Milliseconds between two looks at the pending block: a quarter of the time in which a sequencer adds to it. */
export const PENDING_LOOK = 50

/**
 * A view of the pending block, for chains on which it holds what the sequencer has promised (Flashblocks). Callers at
 * one time share a request, also those who want one receipt: it holds a whole bundle. A node that does not answer shows nothing: a promise is never needed.
 */
export function createPendingBlock(node: NodeClient): PendingBlock {
  let seen: Look | undefined
  const look = (): Look => {
    const at = performance.now()
    if (seen === undefined || at - seen.at >= PENDING_LOOK)
      seen = { at, transactions: transactionsOf(node), receipts: new Map() }
    return seen
  }
  return {
    transactions: () => look().transactions,
    receipt(hash) {
      const { receipts } = look()
      const asked = receipts.get(hash) ?? ifServed(() => getTransactionReceipt(node, hash))
      receipts.set(hash, asked)
      return asked
    },
  }
}

type Look = {
  readonly at: number
  readonly transactions: Promise<ReadonlySet<Hex>>
  readonly receipts: Map<Hex, Promise<TransactionReceipt | undefined>>
}

async function transactionsOf(node: NodeClient): Promise<ReadonlySet<Hex>> {
  const block = await ifServed(() =>
    node.request<{ readonly transactions: readonly Hex[] } | null>('eth_getBlockByNumber', [
      'pending',
      false,
    ]),
  )
  return new Set(block?.transactions.map((hash) => hash.toLowerCase() as Hex))
}

/** What the node answers; undefined where it does not. */
async function ifServed<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof NodeRpcError || error instanceof NodeUnavailableError) return undefined
    throw error
  }
}

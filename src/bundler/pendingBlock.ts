import type { Hex } from 'viem'
import type { NodeClient } from '../chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../chain/nodeErrors.js'

/** The hashes of the transactions that the node's pending block shows; empty where it shows none. */
export type PendingBlock = () => Promise<ReadonlySet<Hex>>

/** Milliseconds between two looks at the pending block: a quarter of the time in which a sequencer adds to it. */
export const PENDING_LOOK = 50

/**
 * A view of the pending block, for chains on which it holds what the sequencer has promised (Flashblocks). Callers at
 * one time share a request. A node that does not answer shows nothing: a promise is never needed.
 */
export function createPendingBlock(node: NodeClient): PendingBlock {
  let seen: { readonly at: number; readonly hashes: Promise<ReadonlySet<Hex>> } | undefined
  return () => {
    const now = performance.now()
    if (seen === undefined || now - seen.at >= PENDING_LOOK) seen = { at: now, hashes: read(node) }
    return seen.hashes
  }
}

async function read(node: NodeClient): Promise<ReadonlySet<Hex>> {
  try {
    const block = await node.request<{ readonly transactions: readonly Hex[] } | null>(
      'eth_getBlockByNumber',
      ['pending', false],
    )
    return new Set(block?.transactions.map((hash) => hash.toLowerCase() as Hex))
  } catch (error) {
    if (error instanceof NodeRpcError || error instanceof NodeUnavailableError) return new Set()
    throw error
  }
}

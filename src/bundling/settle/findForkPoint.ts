import { decodeHead, type Head, headRequest } from '../../chain/head.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { ChainBlock } from '../../store/outbox/chainBlocks.js'

/** The relation of the chain at `head` to the indexed blocks. */
export type ForkPoint =
  /** Nothing new: the head is indexed, or this node lags behind the index. */
  | { readonly kind: 'behind' }
  /** The chain only grew; index from `after`. */
  | { readonly kind: 'grew'; readonly after: bigint }
  /** Blocks above `after` were replaced. */
  | { readonly kind: 'reorg'; readonly after: bigint }
  /** Another block 0: a development chain that began anew. */
  | { readonly kind: 'reset' }

/**
 * The point at which the node's chain departs from the indexed blocks (newest first, block 0 last). A
 * node that has only a part of them lags behind. When none above block 0 matches, the fork counts as
 * just below the oldest: older blocks are final.
 */
export async function findForkPoint(
  node: NodeClient,
  indexed: readonly ChainBlock[],
  head: Head,
  finalityDepth: number,
): Promise<ForkPoint> {
  const newest = indexed[0]
  if (!newest || newest.hash === head.hash) return { kind: 'behind' }
  if (head.number === newest.number + 1n && head.parentHash === newest.hash) {
    return { kind: 'grew', after: newest.number }
  }
  const reachable = indexed.filter(({ number }) => number <= head.number)
  const answers = await node.batch(reachable.map(({ number }) => headRequest(number)))
  const current = answers.map((answer) => {
    if (!answer.ok) throw answer.error
    return decodeHead(answer.result)
  })
  const genesis = current.find((block) => block?.number === 0n)
  if (genesis && genesis.hash !== indexed.at(-1)?.hash) return { kind: 'reset' }

  const common = reachable.find(({ hash }, i) => current[i]?.hash === hash)
  if (common === newest) return { kind: 'grew', after: newest.number }
  if (common && common.number > 0n) {
    return common === reachable[0] ? { kind: 'behind' } : { kind: 'reorg', after: common.number }
  }
  if (newest.number - head.number > BigInt(finalityDepth)) return { kind: 'behind' }
  const oldest = indexed.findLast(({ number }) => number > 0n) ?? newest
  const below = oldest.number - 1n
  return { kind: 'reorg', after: below < head.number ? below : head.number }
}

import { greatest, smallest } from '../../base/bigints.js'
import type { NodeClient } from '../nodeClient.js'

/** Blocks that one eth_getLogs may span, by node; absent = as many as anybody asks for. */
const learned = new WeakMap<NodeClient, bigint>()

/** Blocks to ask for at once, of `wanted` ones. */
export function logSpan(node: NodeClient, wanted: bigint): bigint {
  return smallest(learned.get(node) ?? wanted, wanted)
}

/**
 * Notes that the node refused so many blocks: next it is asked for half of them. False where there is nothing to halve, so
 * that the number of blocks is not the reason; nothing is remembered then.
 */
export function halveLogSpan(node: NodeClient, refused: bigint): boolean {
  if (refused > 1n) learned.set(node, refused / 2n)
  else learned.delete(node)
  return refused > 1n
}

/** Notes that the node answered: an eighth more may go next, since full blocks are refused earlier than empty ones. */
export function widenLogSpan(node: NodeClient, answered: bigint): void {
  const span = learned.get(node)
  if (span === answered) learned.set(node, span + greatest(span / 8n, 1n))
}

import type { Hex } from 'viem'
import type { NodeClient } from '../chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../chain/nodeErrors.js'
import { sendRawTransaction } from '../chain/nodeReads.js'

/**
 * What we know after sending signed bytes:
 * - `sent`: the node has it;
 * - `settled`: the nonce is used, by this transaction or another one: receipts tell;
 * - `refused`: the operations make the transaction too big or too dear for any block;
 * - `unknown`: the node may or may not have it (no answer, too cheap now, executor out of funds), or
 *   refuses for a reason that no operation can help (wrong chain id, unknown transaction type): it
 *   stays the bundle's transaction and is sent again.
 */
export type BroadcastResult = {
  readonly kind: 'sent' | 'settled' | 'refused' | 'unknown'
  readonly reason?: string
}

export async function broadcast(node: NodeClient, raw: Hex): Promise<BroadcastResult> {
  try {
    await sendRawTransaction(node, raw)
    return { kind: 'sent' }
  } catch (error) {
    if (error instanceof NodeRpcError) return classifyRefusal(error.message)
    if (error instanceof NodeUnavailableError) return { kind: 'unknown', reason: error.message }
    throw error
  }
}

/** Reads a node's refusal of a transaction. What is not known to be final counts as unknown. */
export function classifyRefusal(reason: string): BroadcastResult {
  if (known.test(reason)) return { kind: 'sent' }
  if (nonceUsed.test(reason)) return { kind: 'settled', reason }
  if (final.test(reason)) return { kind: 'refused', reason }
  return { kind: 'unknown', reason }
}

const known = /already known|already imported|known transaction|already in (?:the )?(?:mem)?pool/i
const nonceUsed = /nonce (?:is )?too low|old nonce|nonce already used/i
const final =
  /intrinsic gas too low|exceeds block gas limit|gas limit (?:is )?too (?:high|large)|exceeds the transaction gas cap|gas limit too high|oversized data|max initcode size/i

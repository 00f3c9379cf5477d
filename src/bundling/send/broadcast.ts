import type { Hex } from 'viem'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../../chain/nodeErrors.js'
import { sendRawTransaction } from '../../chain/nodeReads.js'

/**
 * The result of sending a signed transaction:
 * - `sent`: the node has it;
 * - `settled`: the nonce is used, by this transaction or another one: receipts say by which;
 * - `terminal`: the operations make the transaction too big or too expensive for any block;
 * - `neutral`: the node refuses it now, for a reason that lies in no operation (too cheap,
 *   executor out of funds, pool full, wrong chain id);
 * - `indeterminate`: no answer, or one that is not understood: the node may or may not have it.
 *
 * After `neutral` and `indeterminate` the transaction stays that of its bundle and is sent again.
 */
export type BroadcastResult = {
  readonly kind: 'sent' | 'settled' | 'terminal' | 'neutral' | 'indeterminate'
  readonly reason?: string
}

export async function broadcast(node: NodeClient, raw: Hex): Promise<BroadcastResult> {
  try {
    await sendRawTransaction(node, raw)
    return { kind: 'sent' }
  } catch (error) {
    if (error instanceof NodeRpcError) return classifyRefusal(error.message)
    if (error instanceof NodeUnavailableError) {
      return { kind: 'indeterminate', reason: error.message }
    }
    throw error
  }
}

/** The meaning of a node's refusal. A refusal that is not known to be final does not count as final. */
export function classifyRefusal(reason: string): BroadcastResult {
  if (alreadyKnown.test(reason)) return { kind: 'sent' }
  if (nonceUsed.test(reason)) return { kind: 'settled', reason }
  if (final.test(reason)) return { kind: 'terminal', reason }
  if (notNow.test(reason)) return { kind: 'neutral', reason }
  return { kind: 'indeterminate', reason }
}

const alreadyKnown =
  /already known|already imported|known transaction|already in (?:the )?(?:mem)?pool/i
const nonceUsed = /nonce (?:is )?too low|old nonce|nonce already used/i
const final =
  /intrinsic gas too low|exceeds block gas limit|gas limit (?:is )?too (?:high|large)|exceeds the transaction gas cap|gas limit too high|oversized data|max initcode size/i
const notNow =
  /underpriced|insufficient funds|less than block base fee|fee too low|pool is full|nonce too high|nonce gap|chain id|transaction type|too many (?:pending|requests)|rate limit|limit exceeded/i

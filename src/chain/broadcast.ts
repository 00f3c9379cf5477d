import type { Hex } from 'viem'
import { type ChainMetrics, noMetrics } from '../base/metrics/metrics.js'
import type { NodeAnswer } from './jsonRpc.js'
import type { NodeClient } from './nodeClient.js'

/**
 * The result of sending a signed transaction:
 * - `sent`: a node has it;
 * - `settled`: the nonce is used, by this transaction or another one: receipts say by which;
 * - `terminal`: the operations make the transaction too big or too expensive for any block, or of a type that the
 *   node does not know;
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

/** Milliseconds for which the other nodes may still accept a transaction that one of them has refused. */
const PATIENCE = 2_000

/** The word of nodes that say nothing. */
const silent: BroadcastResult = { kind: 'indeterminate', reason: 'a node did not answer' }

/** Which of several different answers counts: `terminal` only if all nodes say so. */
const byWeight = ['sent', 'settled', 'neutral', 'indeterminate', 'terminal'] as const

/**
 * Sends a signed transaction to all nodes of the chain at once. The first that has it decides: neither a slow node nor
 * one that refuses, or lies, holds it back.
 */
export async function broadcast(
  node: NodeClient,
  raw: Hex,
  metrics: ChainMetrics = noMetrics,
): Promise<BroadcastResult> {
  const replies = node.askEach('eth_sendRawTransaction', [raw])
  const results: BroadcastResult[] = []
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined
    let isAccepted = false
    const decide = (): void => {
      clearTimeout(timer)
      resolve(weigh(results.length < replies.length ? [...results, silent] : results))
    }
    for (const reply of replies)
      void reply.then(({ host, answer }) => {
        const result = answer ? resultOf(answer, raw) : silent
        const isSent = result.kind === 'sent'
        const accepted = isAccepted ? 'later' : 'first'
        const refused = answer ? 'refused' : 'silent'
        metrics.count('purser_broadcasts_total', {
          node: host,
          outcome: isSent ? accepted : refused,
        })
        isAccepted ||= isSent
        results.push(result)
        if (isSent || results.length === replies.length) decide()
        else if (!isAccepted) timer ??= setTimeout(decide, PATIENCE)
      })
    if (replies.length === 0) decide()
  })
}

function resultOf(answer: NodeAnswer, raw: Hex): BroadcastResult {
  return answer.ok ? { kind: 'sent' } : classifyRefusal(answer.error.message, raw)
}

function weigh(results: readonly BroadcastResult[]): BroadcastResult {
  const [first = silent] = byWeight.flatMap(
    (kind) => results.find((each) => each.kind === kind) ?? [],
  )
  return first
}

/**
 * The meaning of a node's refusal of a transaction. A refusal that is not known to be final does not count as final.
 * A type that the node does not know is the fault of the operations that brought authorizations (EIP-7702): any other
 * bundle is of the type that the chain has taken before.
 */
export function classifyRefusal(reason: string, raw: Hex): BroadcastResult {
  if (raw.startsWith(DELEGATING) && unknownType.test(reason)) return { kind: 'terminal', reason }
  if (alreadyKnown.test(reason)) return { kind: 'sent' }
  if (nonceUsed.test(reason)) return { kind: 'settled', reason }
  if (final.test(reason)) return { kind: 'terminal', reason }
  if (notNow.test(reason)) return { kind: 'neutral', reason }
  return { kind: 'indeterminate', reason }
}

/** The type of transactions with authorizations. */
const DELEGATING = '0x04'

const unknownType = /transaction type/i
const alreadyKnown =
  /already known|already imported|known transaction|already in (?:the )?(?:mem)?pool/i
const nonceUsed = /nonce (?:is )?too low|old nonce|nonce already used/i
const final =
  /intrinsic gas too low|transaction requires at least \d+ gas|exceeds block gas limit|gas limit (?:is )?too (?:high|large)|exceeds (?:the )?transaction gas cap|gas limit too high|oversized data|max initcode size/i
const notNow =
  /underpriced|insufficient funds|enough funds|is too low for the next block|less than block base fee|fee too low|pool is full|nonce too high|nonce gap|chain id|transaction type|too many (?:pending|requests)|rate limit|limit exceeded|exceeds the configured cap/i

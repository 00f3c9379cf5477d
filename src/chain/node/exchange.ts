import { setTimeout as delay } from 'node:timers/promises'
import { awake, restAfter } from '../../base/restAfter.js'
import { decodeAnswers, encodeCalls, type NodeAnswer, type NodeCall } from '../jsonRpc.js'
import { NodeUnavailableError } from '../nodeErrors.js'
import type { Endpoint } from './endpoint.js'
import { type NodePool, noteFailing, pickNode, type RpcNode, restsUntil } from './nodePool.js'

const ATTEMPTS = 3

/**
 * The answers to calls that travel together, from the first node that gives them. Throws
 * NodeUnavailableError when no node does. See createNodeClient on what is tried again.
 */
export async function exchange(
  pool: NodePool,
  calls: readonly NodeCall[],
): Promise<readonly NodeAnswer[]> {
  const label = calls[0]?.method ?? 'batch'
  const attempts = calls.some(({ method }) => method.startsWith('eth_send')) ? 1 : ATTEMPTS
  for (let attempt = 1; ; attempt++) {
    const node = pickNode(pool, calls)
    if (node === undefined) throw new NodeUnavailableError(`${label}: no node has the head`)
    try {
      const answers = await askNode(pool, node, calls, pool.deadline)
      const failed = noteFailing(node, calls, answers)
      const next = failed && attempt < attempts ? pickNode(pool, calls) : undefined
      if (next === undefined || restsUntil(next, calls) > Date.now()) return answers
    } catch (cause) {
      if (attempt === attempts || pool.closed) throw new NodeUnavailableError(label, cause)
      await delay(50 * 2 ** attempt * (0.5 + Math.random()))
    }
  }
}

/** One exchange with one node, which rests for a while when it fails. `patience` in milliseconds. */
export async function askNode(
  { logger, onExchange }: NodePool,
  node: RpcNode,
  calls: readonly NodeCall[],
  patience: number,
): Promise<readonly NodeAnswer[]> {
  const { label } = node.endpoint
  const begin = performance.now()
  const report = (outcome: 'answered' | 'failed'): void => {
    const seconds = (performance.now() - begin) / 1_000
    onExchange?.({ node: label, methods: calls.map(({ method }) => method), outcome, seconds })
  }
  try {
    const answers = await post(node.endpoint, encodeCalls(calls), calls.length, patience)
    node.rest = awake
    report('answered')
    return answers
  } catch (cause) {
    node.rest = restAfter(node.rest, Date.now(), Math.random())
    report('failed')
    logger.warn({ endpoint: label, reason: reasonOf(cause) }, 'node did not answer')
    throw cause
  }
}

async function post(endpoint: Endpoint, body: string, count: number, deadline: number) {
  const { status, text } = await endpoint.post(body, deadline)
  const overloaded = status === 429 || status === 502 || status === 503 || status === 504
  if (overloaded) throw new Error(`HTTP ${status}`)
  const answers = decodeAnswers(text, count)
  if (answers === undefined) throw new Error(`HTTP ${status} with no JSON-RPC answer`)
  return answers
}

/** undici hides the reason (ECONNREFUSED …) in `cause`; the message may be empty. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return [code, error.message].filter((part) => typeof part === 'string' && part).join(' ')
}

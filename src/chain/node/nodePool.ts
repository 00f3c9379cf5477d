import type { Logger } from 'pino'
import { awake, type Rest, restAfter } from '../../base/restAfter.js'
import type { NodeAnswer, NodeCall } from '../jsonRpc.js'
import type { Endpoint } from './endpoint.js'

/** One node of a chain, and what its last answers have shown of it. */
export type RpcNode = {
  readonly endpoint: Endpoint
  /** The pause in which it is not asked, after it did not answer. */
  rest: Rest
  /** Methods that it lately failed at while it answered others. */
  readonly failing: Map<string, Rest>
  /** It does not have the agreed head. */
  behind: boolean
}

/** One exchange with one node: calls that travelled together. */
export type NodeExchange = {
  /** Host and port: the rest of a URL may hold a key. */
  readonly node: string
  readonly methods: readonly string[]
  /** `failed`: without a usable answer. A refusal is an answer. */
  readonly outcome: 'answered' | 'failed'
  readonly seconds: number
}

/** The nodes of one chain and how they are asked. */
export type NodePool = {
  /** Preferred first. */
  readonly nodes: readonly RpcNode[]
  /** Number of nodes that must have the same head. */
  readonly quorum: number
  readonly logger: Logger
  /** Milliseconds that one HTTP exchange may take. */
  readonly deadline: number
  /** Called after each exchange, for the metrics. */
  readonly onExchange: ((exchange: NodeExchange) => void) | undefined
  /** The highest number agreed on: what was validated may rest on it. */
  floor: bigint
  closed: boolean
}

/** Codes of a node's own trouble: another node may do better. */
const nodesOwnTrouble = new Set([
  -32601, // method not found
  -32603, // internal error
  -32005, // limit exceeded
  -32002, // resource unavailable
])

/**
 * The first node that has the head and does not rest, else the one whose rest ends first. Undefined when
 * no node has the head.
 */
export function pickNode({ nodes }: NodePool, calls: readonly NodeCall[]): RpcNode | undefined {
  const now = Date.now()
  const current = nodes.filter(({ behind }) => !behind)
  const rested = current.find((node) => restsUntil(node, calls) <= now)
  if (rested) return rested
  const earliest = Math.min(...current.map((node) => restsUntil(node, calls)))
  return current.find((node) => restsUntil(node, calls) === earliest)
}

/** The time (milliseconds since 1970) until which a node is not to be asked these calls. */
export function restsUntil({ rest, failing }: RpcNode, calls: readonly NodeCall[]): number {
  return Math.max(rest.until, ...calls.map(({ method }) => failing.get(method)?.until ?? 0))
}

/** Notes which methods the node failed at, and which no longer; returns whether there are any. */
export function noteFailing(
  node: RpcNode,
  calls: readonly NodeCall[],
  answers: readonly NodeAnswer[],
): boolean {
  let failed = false
  for (const [i, { method }] of calls.entries()) {
    const answer = answers[i]
    if (answer === undefined || answer.ok || !nodesOwnTrouble.has(answer.error.code)) {
      node.failing.delete(method)
      continue
    }
    failed = true
    const rest = node.failing.get(method) ?? awake
    node.failing.set(method, restAfter(rest, Date.now(), Math.random()))
  }
  return failed
}

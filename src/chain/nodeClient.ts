import type { Logger } from 'pino'
import { awake } from '../base/restAfter.js'
import { decodeHead, type Head, headRequest } from './head.js'
import type { NodeAnswer, NodeCall } from './jsonRpc.js'
import { agreedHead, askEach } from './node/agreedHead.js'
import { quorumOf } from './node/agreeOnHead.js'
import { type BodyHeaders, createEndpoint } from './node/endpoint.js'
import { exchange } from './node/exchange.js'
import type { NodeExchange, NodePool } from './node/nodePool.js'
import { NodeUnavailableError } from './nodeErrors.js'

/** JSON-RPC to the nodes of one chain. */
export type NodeClient = {
  /**
   * One call; its result is what the node says, unchecked. Throws NodeRpcError when the node refuses,
   * NodeUnavailableError when no endpoint answers.
   */
  request<T>(method: string, params: readonly unknown[]): Promise<T>
  /** Several calls in one HTTP request; each settles alone, in the order asked. */
  batch(calls: readonly NodeCall[]): Promise<readonly NodeAnswer[]>
  /**
   * The newest block that enough endpoints agree on, see `agreeOnHead`. Until the next look only those
   * that have it, and are not behind an earlier one, are asked anything.
   */
  head(): Promise<Head>
  /** The results of all endpoints that answer one call; empty when none does. */
  survey<T>(method: string, params: readonly unknown[]): Promise<readonly T[]>
  /** The endpoints, preferred first, as their last answers have shown them. */
  nodes(): readonly NodeState[]
  /** Ends pending exchanges too. */
  close(): Promise<void>
}

export type NodeState = {
  /** Host and port: paths and credentials hold keys. */
  readonly host: string
  /** Does not have the head that was agreed on. */
  readonly behind: boolean
  /** The time until which it is not asked, because it did not answer; undefined where it may be asked. */
  readonly restsUntil: Date | undefined
  /** Methods that it is not asked at the moment. */
  readonly failing: readonly string[]
}

export type NodeClientOptions = {
  /** Endpoints, preferred first. */
  readonly urls: readonly string[]
  readonly logger: Logger
  /** Milliseconds that one HTTP exchange may take. */
  readonly deadline?: number
  /** Bytes that one answer may have. */
  readonly maxAnswerBytes?: number
  /** Headers that depend on what is asked, such as a signature. */
  readonly bodyHeaders?: BodyHeaders | undefined
  /** Called after each exchange, for the metrics. */
  readonly onExchange?: (exchange: NodeExchange) => void
}

/** Requests that travel in one body at most. */
export const MAX_CALLS_PER_BATCH = 100

/**
 * A client of the nodes of one chain. Reads are tried again on transport trouble, on the next endpoint
 * where there is one. A refusal by the node is an answer and never repeated, unless it speaks of the
 * node's own trouble and another endpoint is there to ask. Raw transactions are sent once: after a
 * broken exchange nobody knows whether the node has them, and the bundler decides what to do.
 *
 * Calls are joined only where a caller asks by `batch`. Joining whatever is sent in one tick would
 * save 0.03 ms CPU a call under load, but the slowest call would then hold back the answers of all.
 */
export function createNodeClient(options: NodeClientOptions): NodeClient {
  const pool = createPool(options)
  const { nodes } = pool
  return {
    request: (method, params) => request(pool, method, params),
    async batch(calls) {
      const parts: (readonly NodeCall[])[] = []
      for (let at = 0; at < calls.length; at += MAX_CALLS_PER_BATCH) {
        parts.push(calls.slice(at, at + MAX_CALLS_PER_BATCH))
      }
      return (await Promise.all(parts.map((part) => exchange(pool, part)))).flat()
    },
    async head() {
      if (nodes.length > 1) return agreedHead(pool)
      const { method, params } = headRequest('latest')
      const head = decodeHead(await request(pool, method, params))
      if (head === undefined) throw new NodeUnavailableError('the node has no latest block')
      return head
    },
    async survey<T>(method: string, params: readonly unknown[]) {
      if (nodes.length === 1) return [await request<T>(pool, method, params)]
      return (await askEach(pool, { method, params })).map(({ result }) => result as T)
    },
    nodes() {
      const now = Date.now()
      return nodes.map(({ endpoint, behind, rest, failing }) => ({
        host: endpoint.label,
        behind,
        restsUntil: rest.until > now ? new Date(rest.until) : undefined,
        failing: [...failing].flatMap(([method, { until }]) => (until > now ? method : [])),
      }))
    },
    async close() {
      pool.closed = true
      await Promise.all(nodes.map(({ endpoint }) => endpoint.close()))
    },
  }
}

function createPool({
  urls,
  logger,
  deadline = 10_000,
  maxAnswerBytes = 64 * 1024 * 1024,
  bodyHeaders,
  onExchange,
}: NodeClientOptions): NodePool {
  if (urls.length === 0) throw new Error('a chain needs at least one RPC URL')
  const nodes = urls.map((url) => ({
    endpoint: createEndpoint(url, maxAnswerBytes, bodyHeaders),
    rest: awake,
    failing: new Map(),
    behind: false,
  }))
  const quorum = quorumOf(nodes.length)
  return { nodes, quorum, logger, deadline, onExchange, floor: 0n, closed: false }
}

async function request<T>(pool: NodePool, method: string, params: readonly unknown[]): Promise<T> {
  const [answer] = await exchange(pool, [{ method, params }])
  if (answer === undefined) throw new NodeUnavailableError(method)
  if (!answer.ok) throw answer.error
  return answer.result as T
}

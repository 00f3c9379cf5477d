import type { Logger } from 'pino'
import type { Hex } from 'viem'
import { unpaused } from '../base/pauseAfter.js'
import type { ChainIdentity } from './chainIdentity.js'
import type { Head } from './head.js'
import type { NodeAnswer, NodeCall } from './jsonRpc.js'
import { agreedHead, askEach, type NodeReply, quorumOf } from './node/agreedHead.js'
import { headOf } from './node/headOf.js'
import {
  type BodyHeaders,
  createEndpoint,
  exchange,
  exchangeInParts,
  type NodeExchange,
  type NodePool,
  type RpcNode,
} from './node/nodePool.js'
import { NodeUnavailableError } from './nodeErrors.js'

/** JSON-RPC to the nodes of one chain. */
export type NodeClient = {
  /**
   * One call; its result is what the node says, unchecked. Throws NodeRpcError when the node refuses,
   * NodeUnavailableError when no endpoint answers.
   */
  request<T>(method: string, params: readonly unknown[]): Promise<T>
  /** Several calls in one HTTP request, in more where the answer is too large; each settles alone, in the order asked. */
  batch(calls: readonly NodeCall[]): Promise<readonly NodeAnswer[]>
  /**
   * The newest block that enough endpoints agree on, see `agreeOnHead`. Until the next look only those
   * that have it, and are not behind an earlier one, are asked anything.
   * @param known hashes of the chain's last blocks, by number: what distinguishes a node that is behind from a chain that is
   *   on another branch. Absent = as they were last given.
   */
  head(known?: ReadonlyMap<bigint, Hex>): Promise<Head>
  /** Asks all endpoints that serve the chain and are not paused; each reply comes for itself and never fails. */
  askEach(method: string, params: readonly unknown[]): readonly Promise<NodeReply>[]
  /** The results of all endpoints that answer one call; empty when none does. */
  survey<T>(method: string, params: readonly unknown[]): Promise<readonly T[]>
  /** The endpoints, preferred first, as their last answers have shown them. */
  nodes(): readonly NodeState[]
  /** The chain that the nodes are to serve; undefined where any will do. */
  readonly chain: ChainIdentity | undefined
  /**
   * The value that `create` made when this client was first asked for it: where a reader keeps what it learned of the
   * chain for as long as the client lives.
   */
  memory<Value>(create: () => Value): Value
  /** Ends pending exchanges too. */
  close(): Promise<void>
}

export type NodeState = {
  /** Host and port: paths and credentials hold keys. */
  readonly host: string
  /** Does not have the head that was agreed on. */
  readonly behind: boolean
  /** What it serves instead of our chain, so that it counts as away; undefined where it serves ours. */
  readonly otherChain: string | undefined
  /** The time until which it is not asked, because it did not answer; undefined where it may be asked. */
  readonly pausedUntil: Date | undefined
  /** Methods that it is not asked at the moment. */
  readonly failing: readonly string[]
}

export type NodeClientOptions = {
  /** Endpoints, preferred first. */
  readonly urls: readonly string[]
  /** The chain that they are to serve; a node that serves another one is not used. Absent = any chain. */
  readonly chain?: ChainIdentity | undefined
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
 * node's own trouble and another endpoint is there to ask. What is sent (eth_send…) is sent once: after a
 * broken exchange nobody knows whether the node has it. `broadcast` gives transactions to all endpoints.
 *
 * Calls are joined only where a caller asks by `batch`. Joining whatever is sent in one tick would
 * save 0.03 ms CPU a call under load, but the slowest call would then hold back the answers of all.
 */
export function createNodeClient(options: NodeClientOptions): NodeClient {
  const pool = createPool(options)
  const { nodes } = pool
  const memories = new Map<() => unknown, unknown>()
  return {
    request: (method, params) => request(pool, method, params),
    async batch(calls) {
      const parts: (readonly NodeCall[])[] = []
      for (let at = 0; at < calls.length; at += MAX_CALLS_PER_BATCH) {
        parts.push(calls.slice(at, at + MAX_CALLS_PER_BATCH))
      }
      return (await Promise.all(parts.map((part) => exchangeInParts(pool, part)))).flat()
    },
    async head(known = pool.known) {
      pool.known = known
      if (nodes.length > 1) return agreedHead(pool)
      const [node] = nodes as [RpcNode]
      const head = await headOf(pool, node, (calls) => exchange(pool, calls, nodes))
      if (head !== undefined) return head
      const serves = pool.chain?.strangers.get(node.endpoint.url)
      throw new NodeUnavailableError(
        serves ? `its node serves ${serves}` : 'the node has no latest block',
      )
    },
    async survey<T>(method: string, params: readonly unknown[]) {
      if (nodes.length === 1) return [await request<T>(pool, method, params)]
      const replies = await Promise.all(askEach(pool, { method, params }))
      return replies.flatMap(({ answer }) => (answer?.ok ? [answer.result as T] : []))
    },
    askEach: (method, params) => askEach(pool, { method, params }, pool.deadline),
    nodes() {
      const now = performance.now()
      return nodes.map(({ endpoint, behind, pause, failing }) => ({
        host: endpoint.label,
        behind,
        otherChain: pool.chain?.strangers.get(endpoint.url),
        pausedUntil: pause.until > now ? new Date(Date.now() + pause.until - now) : undefined,
        failing: [...failing].flatMap(([method, { until }]) => (until > now ? method : [])),
      }))
    },
    chain: pool.chain,
    memory<Value>(create: () => Value) {
      if (!memories.has(create)) memories.set(create, create())
      return memories.get(create) as Value
    },
    async close() {
      pool.closed = true
      await Promise.all(nodes.map(({ endpoint }) => endpoint.close()))
    },
  }
}

function createPool({
  urls,
  chain,
  logger,
  deadline = 10_000,
  maxAnswerBytes = 64 * 1024 * 1024,
  bodyHeaders,
  onExchange,
}: NodeClientOptions): NodePool {
  if (urls.length === 0) throw new Error('a chain needs at least one RPC URL')
  const nodes = urls.map((url) => ({
    endpoint: createEndpoint(url, maxAnswerBytes, bodyHeaders),
    pause: unpaused,
    failing: new Map(),
    behind: false,
    jumps: true,
  }))
  const quorum = quorumOf(nodes.length)
  const seen = { floor: 0n, known: new Map(), leftSince: undefined }
  return { nodes, quorum, chain, logger, deadline, onExchange, ...seen, closed: false }
}

async function request<T>(pool: NodePool, method: string, params: readonly unknown[]): Promise<T> {
  const [answer] = await exchange(pool, [{ method, params }])
  if (answer === undefined) throw new NodeUnavailableError(method)
  if (!answer.ok) throw answer.error
  return answer.result as T
}

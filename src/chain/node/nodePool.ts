import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Pool } from 'undici'
import type { Hex } from 'viem'
import { type Pause, pauseAfter, unpaused } from '../../base/pauseAfter.js'
import type { ChainIdentity } from '../chainIdentity.js'
import { decodeAnswers, encodeCalls, type NodeAnswer, type NodeCall } from '../jsonRpc.js'
import { NodeRpcError, NodeUnavailableError } from '../nodeErrors.js'

/** One node of a chain, and what its last answers have shown of it. */
export type RpcNode = {
  readonly endpoint: Endpoint
  /** The pause in which it is not asked, after it did not answer. */
  pause: Pause
  /** Methods that it recently failed at while it answered others. */
  readonly failing: Map<string, Pause>
  /** It does not have the agreed head. */
  behind: boolean
  /** Its last head did not follow a block that we knew, so it is asked at once which chain it serves. */
  jumps: boolean
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
  /** The chain that they are to serve; undefined where any will do. */
  readonly chain: ChainIdentity | undefined
  readonly logger: Logger
  /** Milliseconds that one HTTP exchange may take. */
  readonly deadline: number
  /** Called after each exchange, for the metrics. */
  readonly onExchange: ((exchange: NodeExchange) => void) | undefined
  /** The highest number agreed on: what was validated may rest on it. */
  floor: bigint
  /** Hashes of the chain's last blocks, by number, as they were followed. */
  known: ReadonlyMap<bigint, Hex>
  /** Time (as `performance.now()`) since which the nodes agree on a lower head of another branch; undefined = they do not. */
  leftSince: number | undefined
  closed: boolean
}

/** Codes of a node's own trouble: another node may do better. */
const nodesOwnTrouble = new Set([
  -32601, // method not found
  -32603, // internal error
  -32005, // limit exceeded
  -32002, // resource unavailable
])

/** Those that may be asked: that have the head and serve no other chain. */
function usableNodes({ nodes, chain }: NodePool): readonly RpcNode[] {
  return nodes.filter(({ behind, endpoint }) => !behind && !chain?.strangers.has(endpoint.url))
}

/** The first node that is not paused, else the one whose pause ends first. Undefined when there is none. */
function pickNode(current: readonly RpcNode[], calls: readonly NodeCall[]): RpcNode | undefined {
  const now = performance.now()
  const ready = current.find((node) => pausedUntil(node, calls) <= now)
  if (ready) return ready
  const earliest = Math.min(...current.map((node) => pausedUntil(node, calls)))
  return current.find((node) => pausedUntil(node, calls) === earliest)
}

/** The time (milliseconds since 1970) until which a node is not to be asked these calls. */
function pausedUntil({ pause, failing }: RpcNode, calls: readonly NodeCall[]): number {
  return Math.max(pause.until, ...calls.map(({ method }) => failing.get(method)?.until ?? 0))
}

/** Notes which methods the node failed at, and which no longer; returns whether there are any. */
function noteFailing(
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
    const pause = node.failing.get(method) ?? unpaused
    node.failing.set(method, pauseAfter(pause, performance.now(), Math.random()))
  }
  return failed
}

/** An answer has more bytes than are read. */
class AnswerTooLargeError extends Error {
  constructor(most: number) {
    super(`response too large: it exceeds ${most} bytes`)
  }
}

type HttpAnswer = { readonly status: number; readonly text: string }

/** One HTTP endpoint of a node over kept-alive connections. */
type Endpoint = {
  readonly url: string
  /** For logs: host and port only, because paths and credentials hold keys. */
  readonly label: string
  /** Sends one body. Throws on transport trouble, deadline (ms) or an answer above the size bound. */
  post(body: string, deadline: number): Promise<HttpAnswer>
  close(): Promise<void>
}

const CONNECTIONS = 16

/** Headers that a receiver wants besides, made from the body. */
export type BodyHeaders = (body: string) => Promise<Readonly<Record<string, string>>>

export function createEndpoint(
  url: string,
  maxAnswerBytes: number,
  bodyHeaders?: BodyHeaders,
): Endpoint {
  const { origin, host, pathname, search, username, password } = new URL(url)
  const pool = new Pool(origin, { connections: CONNECTIONS })
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (username || password) {
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
    headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  }
  return {
    url,
    label: host,
    async post(body, deadline) {
      const answer = await pool.request({
        method: 'POST',
        path: `${pathname}${search}`,
        headers: bodyHeaders ? { ...headers, ...(await bodyHeaders(body)) } : headers,
        body,
        signal: AbortSignal.timeout(deadline),
      })
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of answer.body as AsyncIterable<Buffer>) {
        size += chunk.length
        // Leaving the loop destroys the stream and with it the connection.
        if (size > maxAnswerBytes) throw new AnswerTooLargeError(maxAnswerBytes)
        chunks.push(chunk)
      }
      return { status: answer.statusCode, text: Buffer.concat(chunks).toString('utf8') }
    },
    close: () => pool.destroy(),
  }
}

const ATTEMPTS = 3

/**
 * The answers to calls that travel together, from the first node that gives them, of those given or of all that may
 * be asked. Throws NodeUnavailableError when no node does. See createNodeClient on what is tried again.
 */
export async function exchange(
  pool: NodePool,
  calls: readonly NodeCall[],
  given?: readonly RpcNode[],
): Promise<readonly NodeAnswer[]> {
  const label = calls[0]?.method ?? 'batch'
  const attempts = calls.some(({ method }) => method.startsWith('eth_send')) ? 1 : ATTEMPTS
  for (let attempt = 1; ; attempt++) {
    const candidates = given ?? usableNodes(pool)
    const node = pickNode(candidates, calls)
    if (node === undefined)
      throw new NodeUnavailableError(`${label}: no node of the chain has the head`)
    try {
      const answers = await askNode(pool, node, calls, pool.deadline)
      const failed = noteFailing(node, calls, answers)
      const next = failed && attempt < attempts ? pickNode(candidates, calls) : undefined
      if (next === undefined || pausedUntil(next, calls) > performance.now()) return answers
    } catch (cause) {
      if (attempt === attempts || pool.closed) throw new NodeUnavailableError(label, cause)
      await delay(50 * 2 ** attempt * (0.5 + Math.random()))
    }
  }
}

/** The code of geth for answers that are too large together. */
const TOO_LARGE = -32_003
/** What geth, reth, Nethermind and ourselves say of a batch whose answers are too large together. */
const tooLarge = /response.*(?:too large|too big|exceeded)/i

function isTooLarge(answer: NodeAnswer | undefined): boolean {
  return answer?.ok === false && tooLarge.test(answer.error.message)
}

/** As `exchange`; calls whose answers are too large together are made again in halves. */
export async function exchangeInParts(
  pool: NodePool,
  calls: readonly NodeCall[],
): Promise<readonly NodeAnswer[]> {
  const answers = await exchange(pool, calls)
  const left = calls.filter((_, place) => isTooLarge(answers[place]))
  if (calls.length === 1 || left.length === 0) return answers
  const middle = Math.ceil(left.length / 2)
  const parts = [left.slice(0, middle), left.slice(middle)].filter((part) => part.length > 0)
  const others: NodeAnswer[] = []
  for (const part of parts) others.push(...(await exchangeInParts(pool, part)))
  const next = others.values()
  return answers.map((answer) => (isTooLarge(answer) ? (next.next().value ?? answer) : answer))
}

/** One exchange with one node, which is paused for a while when it fails. `patience` in milliseconds. */
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
    if (node.pause.failures > 0) logger.info({ endpoint: label }, 'node answers again')
    node.pause = unpaused
    report('answered')
    return answers
  } catch (cause) {
    if (node.pause.failures === 0)
      logger.warn({ endpoint: label, reason: reasonOf(cause) }, 'node did not answer')
    node.pause = pauseAfter(node.pause, performance.now(), Math.random())
    report('failed')
    throw cause
  }
}

async function post(
  endpoint: Endpoint,
  body: string,
  count: number,
  deadline: number,
): Promise<readonly NodeAnswer[]> {
  let answer: HttpAnswer
  try {
    answer = await endpoint.post(body, deadline)
  } catch (cause) {
    if (!(cause instanceof AnswerTooLargeError) || count === 1) throw cause
    const error = new NodeRpcError(TOO_LARGE, cause.message, undefined)
    return Array.from({ length: count }, () => ({ ok: false, error }))
  }
  const { status, text } = answer
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

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { awake, type Rest, restAfter } from '../base/restAfter.js'
import { decodeHead, type Head, headRequest } from './head.js'
import { decodeAnswers, encodeCalls, type NodeAnswer, type NodeCall } from './jsonRpc.js'
import { agreeOnHead, quorumOf } from './node/agreeOnHead.js'
import { createEndpoint, type Endpoint } from './node/endpoint.js'
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
  /** Ends pending exchanges too. */
  close(): Promise<void>
}

export type NodeClientOptions = {
  /** Endpoints, preferred first. */
  readonly urls: readonly string[]
  readonly logger: Logger
  /** Milliseconds that one HTTP exchange may take. */
  readonly deadline?: number
  /** Called once per call sent, for metrics. */
  readonly onCall?: (method: string) => void
}

type Node = {
  readonly endpoint: Endpoint
  rest: Rest
  /** Methods that it lately failed at while it answered others. */
  readonly failing: Map<string, Rest>
  /** It does not have the agreed head. */
  behind: boolean
}

const ATTEMPTS = 3
const MAX_CALLS_PER_BATCH = 100
/** Milliseconds after which nobody waits for what one of several nodes says of its head. */
const HEAD_DEADLINE = 2_000
/** Method not found, internal error, limit exceeded, resource unavailable: another node may do better. */
const nodesOwnTrouble = new Set([-32601, -32603, -32005, -32002])

/**
 * Reads are tried again on transport trouble, on the next endpoint where there is one. A refusal by
 * the node is an answer and never repeated, unless it speaks of the node's own trouble and another
 * endpoint is there to ask. Raw transactions are sent once: after a broken exchange
 * nobody knows whether the node has them, and the bundler decides what to do.
 *
 * Calls are joined only where a caller asks by `batch`. Joining whatever is sent in one tick would
 * save 0.03 ms CPU a call under load, but the slowest call would then hold back the answers of all.
 */
export function createNodeClient(options: NodeClientOptions): NodeClient {
  const { urls, logger, deadline = 10_000, onCall } = options
  if (urls.length === 0) throw new Error('a chain needs at least one RPC URL')
  const nodes: readonly Node[] = urls.map((url) => ({
    endpoint: createEndpoint(url),
    rest: awake,
    failing: new Map(),
    behind: false,
  }))
  const quorum = quorumOf(nodes.length)
  /** The highest number agreed on: what was validated may rest on it. */
  let floor = 0n
  let closed = false

  /** The first endpoint that may be asked and does not rest, else the one whose rest ends first. */
  function pick(calls: readonly NodeCall[]): Node | undefined {
    const now = Date.now()
    const current = nodes.filter(({ behind }) => !behind)
    const rested = current.find((node) => restsUntil(node, calls) <= now)
    return rested ?? least(current, (node) => restsUntil(node, calls))
  }

  async function ask(node: Node, calls: readonly NodeCall[], patience: number) {
    for (const { method } of calls) onCall?.(method)
    try {
      const answers = await post(node.endpoint, encodeCalls(calls), calls.length, patience)
      node.rest = awake
      return answers
    } catch (cause) {
      node.rest = restAfter(node.rest, Date.now(), Math.random())
      const { label } = node.endpoint
      logger.warn({ endpoint: label, reason: reasonOf(cause) }, 'node did not answer')
      throw cause
    }
  }

  async function exchange(calls: readonly NodeCall[]): Promise<readonly NodeAnswer[]> {
    const what = calls[0]?.method ?? 'batch'
    const tries = calls.some(({ method }) => method === 'eth_sendRawTransaction') ? 1 : ATTEMPTS
    for (let attempt = 1; ; attempt++) {
      const chosen = pick(calls)
      if (chosen === undefined) throw new NodeUnavailableError(`${what}: no node has the head`)
      try {
        const answers = await ask(chosen, calls, deadline)
        const failed = noteFailing(chosen, calls, answers)
        const next = failed && attempt < tries ? pick(calls) : undefined
        if (next === undefined || restsUntil(next, calls) > Date.now()) return answers
      } catch (cause) {
        if (attempt === tries || closed) throw new NodeUnavailableError(what, cause)
        await delay(50 * 2 ** attempt * (0.5 + Math.random()))
      }
    }
  }

  /** What those answer that do not rest, or all when they are too few. */
  async function askEach(call: NodeCall): Promise<{ node: Node; result: unknown }[]> {
    const now = Date.now()
    const rested = nodes.filter(({ rest }) => rest.until <= now)
    const asked = rested.length < quorum ? nodes : rested
    const answers = await Promise.all(asked.map((node) => askOne(node, call)))
    return answers.flatMap((answer) => answer ?? [])
  }

  async function askOne(
    node: Node,
    call: NodeCall,
  ): Promise<{ node: Node; result: unknown } | undefined> {
    const [answer] = await ask(node, [call], Math.min(deadline, HEAD_DEADLINE)).catch(() => [])
    if (answer?.ok) return { node, result: answer.result }
    return undefined
  }

  async function request<T>(method: string, params: readonly unknown[]): Promise<T> {
    const [settled] = await exchange([{ method, params }])
    if (settled === undefined) throw new NodeUnavailableError(method)
    if (!settled.ok) throw settled.error
    return settled.result as T
  }

  async function agreedHead(): Promise<Head> {
    const answers = await askEach(headRequest('latest'))
    const voters = answers.flatMap(({ node, result }) => {
      const told = decodeHead(result)
      const at = async (number: bigint) =>
        decodeHead((await askOne(node, headRequest(number)))?.result)
      return told === undefined ? [] : { node, told, at }
    })
    const agreed = await agreeOnHead(voters, quorum)
    if (agreed === undefined)
      throw new NodeUnavailableError(
        `${voters.length} of ${nodes.length} told a head, and no ${quorum} the same`,
      )
    const isOld = agreed.head.number < floor
    for (const node of nodes) node.behind = isOld || !agreed.by.some((each) => each.node === node)
    if (!isOld) floor = agreed.head.number
    return agreed.head
  }

  return {
    request,
    async batch(calls) {
      const parts: (readonly NodeCall[])[] = []
      for (let at = 0; at < calls.length; at += MAX_CALLS_PER_BATCH) {
        parts.push(calls.slice(at, at + MAX_CALLS_PER_BATCH))
      }
      return (await Promise.all(parts.map(exchange))).flat()
    },
    async head() {
      if (nodes.length > 1) return agreedHead()
      const { method, params } = headRequest('latest')
      const head = decodeHead(await request(method, params))
      if (head === undefined) throw new NodeUnavailableError('the node has no latest block')
      return head
    },
    async survey<T>(method: string, params: readonly unknown[]) {
      if (nodes.length === 1) return [await request<T>(method, params)]
      return (await askEach({ method, params })).map(({ result }) => result as T)
    },
    async close() {
      closed = true
      await Promise.all(nodes.map(({ endpoint }) => endpoint.close()))
    },
  }
}

function restsUntil({ rest, failing }: Node, calls: readonly NodeCall[]): number {
  return Math.max(rest.until, ...calls.map(({ method }) => failing.get(method)?.until ?? 0))
}

/** Notes which methods the node failed at, and which no longer; resolves to whether there are any. */
function noteFailing(
  node: Node,
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

function least(nodes: readonly Node[], of: (node: Node) => number): Node | undefined {
  const lowest = Math.min(...nodes.map(of))
  return nodes.find((node) => of(node) === lowest)
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

import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { createEndpoint, type Endpoint } from './endpoint.js'
import { type Call, decodeAnswers, encodeCalls, type Settled } from './jsonRpc.js'
import { NodeUnavailableError } from './nodeErrors.js'

/** JSON-RPC to the nodes of one chain. */
export type NodeClient = {
  /**
   * One call; its result is what the node says, unchecked. Throws NodeRpcError when the node refuses,
   * NodeUnavailableError when no endpoint answers.
   */
  request<T>(method: string, params: readonly unknown[]): Promise<T>
  /** Several calls in one HTTP request; each settles alone, in the order asked. */
  batch(calls: readonly Call[]): Promise<readonly Settled[]>
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

const attempts = 3
const restAfterFailure = 10_000
const maxCallsPerBatch = 100

/**
 * Reads are tried again on transport trouble, on the next endpoint where there is one; a refusal by
 * the node is an answer and never repeated. Raw transactions are sent once: after a broken exchange
 * nobody knows whether the node has them, and the bundler decides what to do.
 *
 * Calls are joined only where a caller asks by `batch`. Joining whatever is sent in one tick would
 * save 0.03 ms CPU a call under load, but the slowest call would then hold back the answers of all.
 */
export function createNodeClient(options: NodeClientOptions): NodeClient {
  const { urls, logger, deadline = 10_000, onCall } = options
  if (urls.length === 0) throw new Error('a chain needs at least one RPC URL')
  const endpoints = urls.map((url) => ({ endpoint: createEndpoint(url), restsUntil: 0 }))

  let closed = false

  /** The first endpoint that has not failed lately, else the one whose rest ends first. */
  function pick() {
    const now = Date.now()
    const rested = endpoints.find(({ restsUntil }) => restsUntil <= now)
    return rested ?? endpoints.reduce((a, b) => (b.restsUntil < a.restsUntil ? b : a))
  }

  async function exchange(calls: readonly Call[]): Promise<readonly Settled[]> {
    const body = encodeCalls(calls)
    const tries = calls.some(({ method }) => method === 'eth_sendRawTransaction') ? 1 : attempts
    for (let attempt = 1; ; attempt++) {
      for (const { method } of calls) onCall?.(method)
      const chosen = pick()
      try {
        return await post(chosen.endpoint, body, calls.length, deadline)
      } catch (cause) {
        chosen.restsUntil = Date.now() + restAfterFailure
        logger.warn(
          { endpoint: chosen.endpoint.label, attempt, reason: reasonOf(cause) },
          'node did not answer',
        )
        if (attempt === tries || closed)
          throw new NodeUnavailableError(calls[0]?.method ?? 'batch', cause)
      }
      await delay(50 * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  return {
    async request<T>(method: string, params: readonly unknown[]) {
      const [settled] = await exchange([{ method, params }])
      if (settled === undefined) throw new NodeUnavailableError(method)
      if (!settled.ok) throw settled.error
      return settled.result as T
    },
    async batch(calls) {
      const parts: (readonly Call[])[] = []
      for (let at = 0; at < calls.length; at += maxCallsPerBatch) {
        parts.push(calls.slice(at, at + maxCallsPerBatch))
      }
      return (await Promise.all(parts.map(exchange))).flat()
    },
    async close() {
      closed = true
      await Promise.all(endpoints.map(({ endpoint }) => endpoint.close()))
    },
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

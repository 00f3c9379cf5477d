import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

type Request = { readonly id: unknown; readonly method: string; readonly params: unknown[] }

/** What is wrong with a node. */
export type Trouble =
  /** Nobody listens. */
  | { readonly kind: 'stopped' }
  /** `methods` (all when absent) are never answered. */
  | { readonly kind: 'hangs'; readonly methods?: readonly string[] }
  /** Everything but transactions is answered as it was so many blocks ago. */
  | { readonly kind: 'behind'; readonly blocks: bigint }
  /** HTML instead of JSON. */
  | { readonly kind: 'garbage' }
  /** Each answer comes `milliseconds` later. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  /** `methods` answer a JSON-RPC error; whether they were carried out first is `late`. */
  | { readonly kind: 'error'; readonly methods: readonly string[]; readonly late?: boolean }
  /** `methods` answer null, as a node that has not heard of it yet. */
  | { readonly kind: 'unaware'; readonly methods: readonly string[] }
  /** `methods` answer an empty list. */
  | { readonly kind: 'empty'; readonly methods: readonly string[] }
  /** `methods` (all when absent) answer as at an earlier block. */
  | { readonly kind: 'old'; readonly block: bigint; readonly methods?: readonly string[] }
  /** Another node answers, as when a load balancer takes the wrong one. */
  | { readonly kind: 'elsewhere'; readonly url: string }

export type TroubledNode = {
  readonly url: string
  /** Requests that met the present trouble, or those of them by a method. */
  met(method?: string): number
  begin(trouble: Trouble): Promise<void>
  end(): Promise<void>
  stop(): Promise<void>
}

/** A node that stands between the service and a real one, and is in trouble when a test says so. */
export async function startTroubledNode(target: string): Promise<TroubledNode> {
  let trouble: Trouble | undefined
  let met: string[] = []

  const forward = async (body: unknown, to = target): Promise<unknown> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(to, { method: 'POST', headers, body: JSON.stringify(body) })
    return answer.json()
  }

  /** Whether a request for logs, or for a call, names a block after `block` by its hash. */
  const isAfter = async ({ method, params }: Request, block: bigint): Promise<boolean> => {
    const place = ['eth_getLogs', 'eth_call'].indexOf(method)
    const named = params[place] as { blockHash?: string } | undefined
    if (named?.blockHash === undefined) return false
    const call = { id: 1, method: 'eth_getBlockByHash', params: [named.blockHash, false] }
    const answer = (await forward({ jsonrpc: '2.0', ...call })) as { result?: { number: string } }
    return answer.result === undefined || BigInt(answer.result.number) > block
  }

  const answerOne = async (request: Request, now: Trouble | undefined): Promise<unknown> => {
    const { id, method } = request
    const chosen = now && 'methods' in now && now.methods ? now.methods.includes(method) : true
    if (!now || !chosen) return forward(request)
    met.push(method)
    if (now.kind === 'hangs') return new Promise(() => {})
    if (now.kind === 'behind') {
      const call = { jsonrpc: '2.0', id, method: 'eth_blockNumber', params: [] }
      const newest = BigInt(((await forward(call)) as { result: string }).result)
      const block = newest > now.blocks ? newest - now.blocks : 0n
      return answerOne(request, { kind: 'old', block })
    }
    if (now.kind === 'elsewhere') return forward(request, now.url)
    if (now.kind === 'error') {
      if (now.late) await forward(request)
      return { jsonrpc: '2.0', id, error: { code: -32603, message: 'internal error' } }
    }
    if (now.kind === 'unaware') return { jsonrpc: '2.0', id, result: null }
    if (now.kind === 'empty') return { jsonrpc: '2.0', id, result: [] }
    if (now.kind === 'slow') await delay(now.milliseconds)
    if (now.kind === 'old' && (await isAfter(request, now.block)))
      return { jsonrpc: '2.0', id, error: { code: -32000, message: 'unknown block' } }
    return forward(now.kind === 'old' ? atBlock(request, now.block) : request)
  }

  const answer = async (text: string, response: ServerResponse): Promise<void> => {
    const now = trouble
    if (now?.kind === 'garbage') {
      met.push('garbage')
      response.end('<html>502 no gateway here</html>')
      return
    }
    const body: unknown = JSON.parse(text)
    const answers = Array.isArray(body)
      ? await Promise.all(body.map((request: Request) => answerOne(request, now)))
      : await answerOne(body as Request, now)
    response.end(JSON.stringify(answers))
  }

  const server = createServer(async (incoming, response) => {
    try {
      let text = ''
      for await (const chunk of incoming) text += chunk
      await answer(text, response)
    } catch {
      // The service went away, or the real node did: either way nobody is answered.
      response.destroy()
    }
  })
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  const port = await listen(0)

  return {
    url: `http://127.0.0.1:${port}`,
    met: (method) => met.filter((each) => method === undefined || each === method).length,
    async begin(next) {
      trouble = next
      met = []
      if (next.kind === 'stopped') await close()
    },
    async end() {
      trouble = undefined
      if (!server.listening) await listen(port)
    },
    stop: close,
  }
}

/** The request as a node asks itself that has seen nothing after `block`. */
function atBlock(request: Request, block: bigint): Request {
  const old = `0x${block.toString(16)}`
  const { method, params } = request
  if (method === 'eth_getLogs') {
    const [filter] = params as [Record<string, string>]
    if (filter.blockHash !== undefined) return request
    const later = BigInt(filter.toBlock ?? 0) > block
    return { ...request, params: [{ ...filter, ...(later ? { toBlock: old } : {}) }] }
  }
  const moved = params.map((each) => (each === 'latest' || each === 'pending' ? old : each))
  return { ...request, params: moved }
}

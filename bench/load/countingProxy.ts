import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'undici'

export type CountingProxy = {
  readonly url: string
  /** HTTP requests, and calls by method, since it was last asked. */
  counts(): { readonly requests: number; readonly methods: Readonly<Record<string, number>> }
  close(): Promise<void>
}

/**
 * Stands between a bundler and its node and counts what is asked.
 * @param latency milliseconds by which each answer comes later, as from a node that is far away
 */
export async function startCountingProxy(target: string, latency = 0): Promise<CountingProxy> {
  const pool = new Pool(target, { connections: 64 })
  let requests = 0
  let methods: Record<string, number> = {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const parsed = JSON.parse(body.toString()) as { method: string } | { method: string }[]
    requests++
    for (const { method } of [parsed].flat()) methods[method] = (methods[method] ?? 0) + 1
    if (latency > 0) await delay(latency)
    const headers = { 'content-type': 'application/json' }
    const answer = await pool.request({ method: 'POST', path: '/', headers, body })
    response.writeHead(answer.statusCode, headers)
    response.end(Buffer.from(await answer.body.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts() {
      const counted = { requests, methods }
      requests = 0
      methods = {}
      return counted
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await pool.close()
    },
  }
}

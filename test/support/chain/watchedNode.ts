import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anvilClient } from '../../../src/cli/devnet/anvilClient.js'

export type WatchedNode = { readonly url: string; stop(): Promise<void> }

type Request = { readonly method: string; readonly params: readonly unknown[] }

/** Times that one receipt is asked for without success, with nothing sent between, before a block is mined. */
const IDLE = 40

/**
 * A node in front of an anvil that mines nothing by itself. It mines a block when its client waits: the client's
 * own requests are the clock, so a slow machine gets no more blocks than a quick one.
 */
export async function startWatchedNode(target: string): Promise<WatchedNode> {
  const client = anvilClient(target)
  let asked = new Map<string, number>()

  /** Whether the client does nothing but ask for what a block would bring. */
  const isWaiting = (requests: readonly Request[]): boolean => {
    if (requests.some(({ method }) => method === 'eth_sendRawTransaction')) asked = new Map()
    for (const { method, params } of requests) {
      if (method !== 'eth_getTransactionReceipt') continue
      const hash = String(params[0])
      asked.set(hash, (asked.get(hash) ?? 0) + 1)
    }
    return Math.max(0, ...asked.values()) >= IDLE
  }

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const requests: Request | Request[] = JSON.parse(body.toString())
    if (isWaiting([requests].flat())) {
      asked = new Map()
      await client.mine({ blocks: 1 })
    }
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(target, { method: 'POST', headers, body })
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

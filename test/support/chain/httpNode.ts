import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

export type HttpNode = { readonly url: string; readonly bodies: unknown[]; stop(): Promise<void> }

type Handler = (body: unknown, response: ServerResponse, request: IncomingMessage) => void

/** A real HTTP server whose answers a test writes: for nodes that misbehave. Keeps what it was sent. */
export async function startHttpNode(handler: Handler): Promise<HttpNode> {
  const bodies: unknown[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body: unknown = JSON.parse(text)
    bodies.push(body)
    handler(body, response, request)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    bodies,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

type Request = { readonly id: number; readonly method: string }

/** In front of a real node: `refused` methods are unknown, everything else is passed on. */
export function startNodeWithout(target: string, refused: readonly string[]): Promise<HttpNode> {
  const answerOf = async (request: Request): Promise<unknown> => {
    const { id, method } = request
    const error = { code: -32601, message: `the method ${method} does not exist` }
    if (refused.includes(method)) return { jsonrpc: '2.0', id, error }
    const headers = { 'content-type': 'application/json' }
    return (await fetch(target, { method: 'POST', headers, body: JSON.stringify(request) })).json()
  }
  return startHttpNode(async (body, response) => {
    const answers = Array.isArray(body)
      ? Promise.all(body.map(answerOf))
      : answerOf(body as Request)
    response.end(JSON.stringify(await answers))
  })
}

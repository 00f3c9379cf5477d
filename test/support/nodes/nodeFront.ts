import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestMethods } from './testMethods.js'

export type NodeFront = { readonly url: string; stop(): Promise<void> }

type Request = {
  readonly id: unknown
  readonly method: string
  readonly params?: readonly never[]
}

/** In front of a node for tests: it answers the methods of tests and passes on everything else as it is. */
export async function startNodeFront(target: string, methods: TestMethods): Promise<NodeFront> {
  const headers = { 'content-type': 'application/json' }
  const pass = (body: Buffer | string) => fetch(target, { method: 'POST', headers, body })

  async function answer(request: Request): Promise<unknown> {
    const method = methods[request.method]
    if (method === undefined) return (await pass(JSON.stringify(request))).json()
    const { id, params = [] } = request
    try {
      return { jsonrpc: '2.0', id, result: await method(...params) }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { jsonrpc: '2.0', id, error: { code: -32000, message } }
    }
  }

  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const requests: Request | Request[] = JSON.parse(body.toString())
    const isOurs = [requests].flat().some(({ method }) => method in methods)
    if (!isOurs) {
      const answered = await pass(body)
      const bytes = Buffer.from(await answered.arrayBuffer())
      response.writeHead(answered.status, headers).end(bytes)
      return
    }
    const answers = Array.isArray(requests)
      ? await Promise.all(requests.map(answer))
      : await answer(requests)
    response.writeHead(200, headers).end(JSON.stringify(answers))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

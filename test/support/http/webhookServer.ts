import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { expectDocumentedCall } from './documentedInterface.js'

export type ReceivedCall = {
  readonly method: string | undefined
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

export type WebhookServer = {
  readonly url: () => string
  /** What it has received since the test began. */
  readonly calls: ReceivedCall[]
  /** What it answers; reset to an approval before each test. */
  answer: { status: number; body: string }
}

/** A customer's endpoint on loopback, for all tests of a file. What it gets by POST is compared with the document. */
export function useWebhookServer(): WebhookServer {
  let url = ''
  const approve = { status: 200, body: '{"arePoliciesVerified":true}' }
  const hook: WebhookServer = { url: () => url, calls: [], answer: approve }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method, headers } = request
    hook.calls.push({ method, url: request.url ?? '', headers, body })
    response.writeHead(hook.answer.status, { 'content-type': 'application/json' })
    response.end(hook.answer.body)
  })
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/approve`
  })
  beforeEach(() => {
    hook.calls.length = 0
    hook.answer = approve
  })
  afterEach(() => {
    for (const { method, body } of hook.calls) if (method === 'POST') expectDocumentedCall(body)
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  return hook
}

import { type Agent, request } from 'node:http'
import { expect } from 'vitest'
import type { HostileRequest } from './hostileBodies.js'

export type HostileAnswer = { readonly status: number; readonly text: string }

/** Bytes above which the service may answer by closing the connection before it has read a body. */
const TOO_LARGE = 1_000_000
const closed = ['EPIPE', 'ECONNRESET']

/** Sends one request as it is; node's own client, because fetch cleans up too much. */
export function sendHostile(url: string, hostile: HostileRequest, agent: Agent) {
  return new Promise<HostileAnswer>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const { method, path, headers, body } = hostile
    const isTooLarge = body.length > TOO_LARGE
    const outgoing = request(
      {
        hostname,
        port,
        method,
        path,
        agent: isTooLarge ? false : agent,
        headers: { ...headers, 'content-length': body.length },
      },
      (response) => {
        const chunks: Buffer[] = []
        const status = response.statusCode ?? 0
        // A stream has no end: it was let in, and that is all that can be waited for.
        if (response.headers['content-type'] === 'text/event-stream') {
          resolve({ status, text: '' })
          outgoing.destroy()
          return
        }
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve({ status, text: Buffer.concat(chunks).toString() }))
        response.on('error', reject)
      },
    )
    // The rest of a body that is too large fails to be written, also after the answer.
    if (isTooLarge) outgoing.on('socket', (socket) => socket.on('error', () => undefined))
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (isTooLarge && closed.includes(error.code ?? '')) resolve({ status: 413, text: '' })
      else reject(error)
    })
    outgoing.end(body)
  })
}

/** What every answer owes, whatever was sent: no fault of ours, its envelope, nothing of inside. */
export function expectSafeAnswer({ route }: HostileRequest, { status, text }: HostileAnswer) {
  expect(status).toBeGreaterThanOrEqual(200)
  expect(status).toBeLessThan(500)
  expect(text).not.toMatch(/node_modules|\/src\/|\/dist\/|\.[jt]s:\d|\n\s+at |TypeError|RangeError/)
  if (status === 413 && text === '') return
  if (route === 'rpc') expectRpcEnvelope(status, text)
  if (route === 'webhook')
    expect(JSON.parse(text)).toMatchObject({ statusCode: status, message: expect.any(String) })
}

function expectRpcEnvelope(status: number, text: string): void {
  if (status === 204) {
    expect(text).toBe('')
    return
  }
  const body: unknown = JSON.parse(text)
  for (const answer of Array.isArray(body) ? body : [body]) {
    expect(answer).toMatchObject({ jsonrpc: '2.0' })
    expect(answer).toHaveProperty('id')
    if ('error' in answer)
      expect(answer.error).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
    else expect(answer).toHaveProperty('result')
  }
}

import { Pool } from 'undici'

export type HttpAnswer = { readonly status: number; readonly text: string }

/** One HTTP endpoint of a node over kept-alive connections. */
export type Endpoint = {
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
        if (size > maxAnswerBytes) throw new Error(`answer exceeds ${maxAnswerBytes} bytes`)
        chunks.push(chunk)
      }
      return { status: answer.statusCode, text: Buffer.concat(chunks).toString('utf8') }
    },
    close: () => pool.destroy(),
  }
}

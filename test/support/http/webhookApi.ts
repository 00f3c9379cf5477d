import { request } from 'node:http'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { expectDocumentedAnswer } from './documentedInterface.js'
import type { Json } from './jsonRpc.js'

const DESCRIBED = ['GET', 'POST', 'PATCH', 'DELETE']

type Options = {
  readonly body?: unknown
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** One request of the webhook management API; unlike fetch it can send a body with GET. */
export function webhookApi(
  info: DevInfo,
  method: string,
  { body, query = '', headers = { authToken: info.authToken, apiKey: info.apiKey } }: Options,
): Promise<{ status: number; body: Json }> {
  return new Promise((resolve, reject) => {
    const content = body === undefined ? undefined : JSON.stringify(body)
    const outgoing = request(
      `${info.webhookApiUrl}/api/v2/public/sdk/webhook${query}`,
      {
        method,
        headers: {
          ...headers,
          ...(content === undefined
            ? {}
            : {
                'content-type': 'application/json',
                'content-length': String(Buffer.byteLength(content)),
              }),
        },
      },
      async (response) => {
        let text = ''
        for await (const chunk of response) text += chunk
        const answer = { status: response.statusCode ?? 0, body: JSON.parse(text) }
        // An operation that does not exist is refused as all others are.
        if (DESCRIBED.includes(method)) expectDocumentedAnswer(method, '/webhook', answer)
        resolve(answer)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(content)
  })
}

import type { CustomFetch } from 'openid-client'
import type { OutboundClient } from '../../outbound/guardedRequest.js'

/** Milliseconds for one request to the provider. */
const DEADLINE = 10_000

/** `fetch` by the guarded client, for a library that asks by `fetch`. Failed answers come without a body. */
export function guardedFetch(client: OutboundClient): CustomFetch {
  return async (url, { method, headers, body }) => {
    const { response } = await client.request(
      {
        url: new URL(url),
        method: method === 'POST' ? 'POST' : 'GET',
        headers,
        body: body === undefined || body === null ? undefined : Buffer.from(String(body)),
      },
      AbortSignal.timeout(DEADLINE),
    )
    if (response.ok)
      return new Response(response.body, {
        status: response.status,
        headers: { 'content-type': response.type },
      })
    if (response.outcome === 'http_status' && response.status !== undefined)
      return new Response(null, { status: response.status })
    throw new TypeError(`The identity provider cannot be asked: ${response.reason}`)
  }
}

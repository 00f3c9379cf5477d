import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { RpcAnswer } from './handleRpc.js'

/** The headers of a response that is JSON. */
export const json = { 'content-type': 'application/json' }

/** The HTTP response for an answer of JSON-RPC. */
export function rpcResponse(c: Context, { status, body, retryAfter }: RpcAnswer): Response {
  if (retryAfter !== undefined) c.header('retry-after', String(retryAfter))
  return body === undefined ? c.body(null, 204) : c.body(body, status as ContentfulStatusCode, json)
}

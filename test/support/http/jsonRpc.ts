// biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
export type Json = any

export type RpcAnswer = {
  readonly status: number
  readonly body: {
    readonly jsonrpc: string
    readonly id: unknown
    readonly result?: Json
    readonly error?: { readonly code: number; readonly message: string; readonly data?: Json }
  }
}

/** Posts a body exactly as given; anything but text is written as JSON. */
export async function post(url: string, body: unknown): Promise<{ status: number; body: Json }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** One JSON-RPC request with parameters exactly as given. */
export function rpc(
  url: string,
  method: string,
  params: unknown,
  id: unknown = 1,
): Promise<RpcAnswer> {
  return post(url, { method, params, id, jsonrpc: '2.0' })
}

/** The result of a request that must succeed. */
export async function result(url: string, method: string, params: unknown): Promise<Json> {
  const { body } = await rpc(url, method, params)
  if (body.error) throw new Error(`${method}: ${body.error.code} ${body.error.message}`)
  return body.result
}

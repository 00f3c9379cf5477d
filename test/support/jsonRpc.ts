export type RpcAnswer = {
  readonly status: number
  readonly body: {
    readonly jsonrpc: string
    readonly id: unknown
    // biome-ignore lint/suspicious/noExplicitAny: a test reads answers of every shape
    readonly result?: any
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
  }
}

/** One JSON-RPC request exactly as given. */
export const rpc = async (url: string, method: string, params: unknown, id: unknown = 1) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, params, id, jsonrpc: '2.0' }),
  })
  return { status: response.status, body: await response.json() } as RpcAnswer
}

/** The result of a request that must succeed. */
export const result = async (url: string, method: string, params: unknown) => {
  const { body } = await rpc(url, method, params)
  if (body.error) throw new Error(`${method}: ${body.error.code} ${body.error.message}`)
  return body.result
}

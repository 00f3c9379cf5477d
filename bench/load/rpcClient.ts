import { Pool } from 'undici'

export type RpcClient = {
  /** Result and milliseconds; throws the server's error. */
  call<R>(method: string, params: readonly unknown[]): Promise<{ result: R; ms: number }>
  close(): Promise<void>
}

/** A JSON-RPC client on up to `connections` kept connections, one request on each at a time. */
export function createRpcClient(url: string, connections: number): RpcClient {
  const { origin, pathname, search } = new URL(url)
  const pool = new Pool(origin, { connections, pipelining: 1 })
  let id = 0
  return {
    async call<R>(method: string, params: readonly unknown[]) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params })
      const start = performance.now()
      const answer = await pool.request({
        method: 'POST',
        path: pathname + search,
        headers: { 'content-type': 'application/json' },
        body,
      })
      const { result, error } = (await answer.body.json()) as {
        result?: R
        error?: { message: string }
      }
      const ms = performance.now() - start
      if (error !== undefined) throw new Error(`${method}: ${error.message}`)
      return { result: result as R, ms }
    },
    close: () => pool.close(),
  }
}

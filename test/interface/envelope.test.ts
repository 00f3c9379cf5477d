import { describe, expect, test } from 'vitest'
import { describedRpc as rpc } from '../support/http/describedRpc.js'
import { post } from '../support/http/jsonRpc.js'
import { usePurser } from '../support/service/usePurser.js'

const info = usePurser()

describe('What the service does, 4: the request envelope', () => {
  test('method: a known one is answered', async () => {
    const { status, body } = await rpc(info().bundlerUrl, 'eth_chainId', [])
    expect(status).toBe(200)
    expect(body.result).toBe('0x7a69')
  })

  test('method: an unknown one is refused by name', async () => {
    const { status, body } = await rpc(info().bundlerUrl, 'eth_nothing', [])
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: -32601 })
    expect(body.error?.message).toContain('eth_nothing')
  })

  test('method: missing or no string is an invalid request', async () => {
    expect(
      (await post(info().bundlerUrl, { params: [], id: 1, jsonrpc: '2.0' })).body.error.code,
    ).toBe(-32600)
    expect((await post(info().bundlerUrl, { method: 7, params: [], id: 1 })).body.error.code).toBe(
      -32600,
    )
  })

  test('params: positional, an object is refused', async () => {
    const { status, body } = await rpc(info().bundlerUrl, 'eth_chainId', { a: 1 })
    expect(status).toBe(400)
    expect([-32600, -32602]).toContain(body.error?.code)
  })

  test.each(['abc', '', 1, 0, 1_700_000_000, null])('id: %j comes back unchanged', async (id) => {
    expect((await rpc(info().bundlerUrl, 'eth_chainId', [], id)).body.id).toBe(id)
  })

  test.each(['2.0', '2.0.0', undefined])(
    'jsonrpc: %s is understood and answered as 2.0',
    async (jsonrpc) => {
      const { body } = await post(info().bundlerUrl, {
        method: 'eth_chainId',
        params: [],
        id: 1,
        jsonrpc,
      })
      expect(body).toEqual({ jsonrpc: '2.0', id: 1, result: '0x7a69' })
    },
  )

  test('a batch is answered in order', async () => {
    const request = (id: number, method: string) => ({ jsonrpc: '2.0', id, method, params: [] })
    const { body } = await post(info().bundlerUrl, [
      request(1, 'eth_chainId'),
      request(2, 'eth_supportedEntryPoints'),
    ])
    expect(body.map((answer: { id: number }) => answer.id)).toEqual([1, 2])
    expect(body[0].result).toBe('0x7a69')
    expect(body[1].result[0].toLowerCase()).toBe(info().entryPoints['0.6']?.toLowerCase())
  })

  test('a body that is not JSON is a parse error', async () => {
    const { status, body } = await post(info().bundlerUrl, '{"method":')
    expect(status).toBe(400)
    expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } })
  })

  test('Errors, Bundler: an error is a JSON-RPC error object, HTTP 400 on v1 and v2, 200 on v3', async () => {
    const { bundlerUrl, paymasterUrl, standardUrl } = info()
    for (const [url, expected] of [
      [bundlerUrl, 400],
      [paymasterUrl, 400],
      [standardUrl, 200],
    ] as const) {
      const { status, body } = await rpc(url, 'eth_nothing', [])
      expect(status).toBe(expected)
      expect(body.error?.code).toBe(-32601)
    }
  })

  test('Authentication, 2: the endpoint address carries the credential; a wrong key is refused', async () => {
    const url = info().bundlerUrl.replace(/[^/]+$/, 'no-such-key')
    const { status, body } = await post(url, { method: 'eth_chainId', params: [], id: 1 })
    expect(status).toBe(401)
    expect(body.error.message).toContain('API key')
  })

  test('an unknown chain id is refused and names the supported ones', async () => {
    const url = info().bundlerUrl.replace('/31337/', '/5/')
    const { status, body } = await post(url, { method: 'eth_chainId', params: [], id: 1 })
    expect(status).toBe(400)
    expect(body.error.message).toContain('31337')
  })

  test('every method is served on the bundler and on the paymaster address', async () => {
    const { bundlerUrl, paymasterUrl } = info()
    expect((await rpc(paymasterUrl, 'eth_chainId', [])).body.result).toBe('0x7a69')
    const { body } = await rpc(bundlerUrl, 'pm_sponsorUserOperation', [])
    expect(body.error?.code).toBe(-32602)
  })
})

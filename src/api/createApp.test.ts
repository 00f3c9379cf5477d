import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { rpcOperation06 } from '../../test/support/http/apiFixtures.js'
import { memoryKeys } from '../../test/support/http/memoryServices.js'
import { rpcPath, useApi } from '../../test/support/http/useApi.js'
import { defaultLimits } from './routeContext.js'

const { call, memory, post, restart, url } = useApi()

describe('a caller without a key', () => {
  const paths = [
    ['GET', '/api/v1/openrpc.json'],
    ['GET', '/api/v3/openrpc.json'],
    ['GET', '/api/v2/public/sdk/openapi.json'],
    ['GET', '/health'],
    ['HEAD', '/health'],
    ['GET', '/health/live'],
    ['GET', '/health/ready'],
    ['GET', rpcPath('v2')],
    ['PUT', '/api/v2/31337'],
    ['POST', '/api/v2/31337'],
    ['POST', '/api/v2/31337/no-such-key'],
    ['OPTIONS', rpcPath('v3')],
    ['DELETE', '/api/v2/public/sdk/webhook'],
    ['GET', '/no/such/page'],
    ['POST', '/'],
  ] as const

  test.each(paths)('%s %s is bounded by the address', async (method, path) => {
    const ip = { perSecond: 0.001, burst: 2 }
    await restart({ limits: { ...defaultLimits, gate: { ...defaultLimits.gate, ip } } })
    const ask = async () => (await fetch(`${url()}${path}`, { method })).status
    const statuses = [await ask(), await ask(), await ask()]
    expect(statuses.slice(0, 2)).not.toContain(429)
    expect(statuses[2]).toBe(429)
  })
})

describe('routes', () => {
  test.each([['v1'], ['v2'], ['v3']])(
    '%s serves bundler and paymaster methods',
    async (version) => {
      expect(await call(version, 'eth_chainId', [])).toMatchObject({
        status: 200,
        body: { jsonrpc: '2.0', id: 1, result: '0x7a69' },
      })
      expect(
        await call(version, 'pm_sponsorUserOperation', [rpcOperation06, { mode: 'SPONSORED' }]),
      ).toMatchObject({ status: 200, body: { result: { mode: 'SPONSORED' } } })
    },
  )

  test.each([[`${rpcPath('v2')}/`], [`${rpcPath('v2')}?x=1&y`], [`${rpcPath('v2')}/?`]])(
    'tolerates %s',
    async (where) => {
      expect((await post(where, '{"id":1,"method":"eth_chainId"}')).status).toBe(200)
    },
  )

  test('an unknown key is 401 with a JSON-RPC error in both dialects', async () => {
    for (const key of ['unknown', 'a'.repeat(201), 'a%00b', '%F0%9F%98%80', '__proto__'])
      for (const version of ['v2', 'v3'])
        expect(
          await post(`/api/${version}/31337/${key}`, '{"id":7,"method":"eth_chainId"}'),
        ).toMatchObject({ status: 401, body: { id: 7, error: { code: -32001 } } })
  })

  test.each([['1'], ['031337'], ['0x7a69'], ['-1'], ['99999999999999999999'], ['%00']])(
    'chain %s is not supported',
    async (chainId) => {
      const where = (version: string) => `/api/${version}/${chainId}/${memoryKeys.apiKey}`
      const answer = await post(where('v2'), '{"id":7,"method":"eth_chainId"}')
      expect(answer).toMatchObject({ status: 400, body: { id: 7, error: { code: -32602 } } })
      expect(answer.body.error.message).toContain('not supported by the Bundler. Supported: 31337')
      expect((await post(where('v3'), '{"id":7,"method":"eth_chainId"}')).status).toBe(200)
    },
  )

  test('another HTTP method is 405 with a JSON-RPC error', async () => {
    const response = await fetch(`${url()}${rpcPath('v2')}`)
    expect(response.status).toBe(405)
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
  })

  test.each([
    ['/'],
    ['/api/v4/31337/key'],
    ['/api/v2'],
    ['/api/v2/31337/a/b'],
    ['/%zz'],
    ['/v2/31337/rpc?apikey=key'],
    ['/v2/base/rpc?apikey=key'],
    ['/api/v3/project/chain/31337'],
  ])('%s is not found, and the JSON-RPC error names the path', async (where) => {
    const answer = await post(where, '{"jsonrpc":"2.0","id":7,"method":"eth_chainId"}')
    const error = { code: -32600, message: expect.stringContaining('/api/v3/{chainId}/{apiKey}') }
    expect(answer).toMatchObject({ status: 404, body: { jsonrpc: '2.0', id: 7, error } })
    expect(await post(where, 'x'.repeat(5_000))).toMatchObject({ status: 404, body: { id: null } })
    expect((await fetch(`${url()}${where}`)).status).toBe(404)
  })

  test.each(['/api/v2/public/sdk/webhooks', '/admin/v1/app'])(
    'a wrong path of a REST API is not found, in the form of that API: %s',
    async (path) => {
      const answer = await post(path, '{"id":7,"method":"eth_chainId"}')
      expect(answer).toMatchObject({ status: 404, body: { statusCode: 404 } })
    },
  )

  test('a URL without a key asks for one', async () => {
    const answer = await post('/api/v2/31337', '{"id":7,"method":"eth_chainId"}')
    expect(answer).toMatchObject({ status: 401, body: { id: 7, error: { code: -32001 } } })
  })

  test('browsers may call from anywhere', async () => {
    const preflight = await fetch(`${url()}${rpcPath('v2')}`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://dapp.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type')
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST')
    const answer = await call('v2', 'eth_chainId', [])
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('health is live always, ready when the parts are; executors are for the operator', async () => {
    const needMoney = "Something needs attention; the operator's token shows what."
    const get = async (where: string) => {
      const response = await fetch(`${url()}${where}`)
      return { status: response.status, body: await response.json() }
    }
    expect(await get('/health/ready')).toEqual({
      status: 200,
      body: {
        status: 'ok',
        roles: ['api', 'bundler'],
        checks: { database: true },
        reasons: [needMoney],
        chains: { 10: { head: 1, headAge: 2, answers: true, bundlesHere: true, bundled: true } },
      },
    })
    const ofOperator = await fetch(`${url()}/health/ready`, {
      headers: { authorization: `Bearer ${memory().operatorToken}` },
    })
    expect(await ofOperator.json()).toMatchObject({
      reasons: [],
      alerts: ['Chain 10, 0x11: send it money.'],
      chains: { 10: { executors: [{ balance: '5' }] } },
    })
    const headers = { authorization: 'Bearer wrong' }
    expect((await fetch(`${url()}/health/ready`, { headers })).status).toBe(401)
    memory().setReady(false)
    for (const where of ['/health', '/health/live', '/health/'])
      expect(await get(where)).toEqual({ status: 200, body: { status: 'ok' } })
    expect(await get('/health/ready')).toEqual({
      status: 503,
      body: {
        status: 'unavailable',
        roles: ['api', 'bundler'],
        checks: { database: false },
        chains: { 10: { head: 1, headAge: 2, answers: true, bundlesHere: true, bundled: true } },
        reasons: ['The database does not answer.', needMoney],
      },
    })
  })
})

describe('bodies', () => {
  test('up to the limit are read, larger ones are 413, announced or not', async () => {
    const request = '{"id":1,"method":"eth_chainId"}'
    const fitting = request.padEnd(defaultLimits.bodyBytes, ' ')
    expect((await post(rpcPath('v2'), fitting)).status).toBe(200)
    const stream = new ReadableStream({
      start(controller) {
        for (let kib = 0; kib < 1_500; kib++) controller.enqueue(new Uint8Array(1024).fill(32))
        controller.close()
      },
    })
    const chunked = await fetch(`${url()}${rpcPath('v3')}`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(413)
    expect(await chunked.json()).toMatchObject({ id: null, error: { code: -32600 } })
    expect(await post(rpcPath('v2'), `${fitting} `)).toMatchObject({
      status: 413,
      body: { jsonrpc: '2.0', id: null, error: { code: -32600 } },
    })
  })

  test('that are compressed, of another alphabet or nested too deep are refused', async () => {
    const deep = `{"id":1,"method":"eth_chainId","params":${'['.repeat(40)}${']'.repeat(40)}}`
    expect((await post(rpcPath('v2'), deep)).body.error.message).toContain('nested deeper than 32')
    for (const bytes of [gzipSync('{}'), Buffer.from('{"id":1}', 'utf16le'), new Uint8Array()])
      expect((await post(rpcPath('v2'), bytes)).body.error.code).toBe(-32700)
  })

  test('need no content type', async () => {
    const body = '{"id":1,"method":"eth_chainId"}'
    expect((await post(rpcPath('v2'), body, { 'content-type': 'text/html' })).status).toBe(200)
  })
})

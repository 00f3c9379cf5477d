import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  entryPointAddresses,
  rpcOperation06,
  rpcOperation07,
} from '../../test/support/apiFixtures.js'
import { createMemoryServices, memoryKeys } from '../../test/support/memoryServices.js'
import { ValidationRejectedError } from '../errors/operationErrors.js'
import { defaultLimits } from './limits.js'
import { type Api, startApi } from './startApi.js'

const entryPoint = entryPointAddresses['0.6']
const unknownHash = `0x${'ab'.repeat(32)}`
let memory: ReturnType<typeof createMemoryServices>
let logged: string[]
let api: Api

const start = (limits = defaultLimits, port = 0) =>
  startApi({
    services: memory.services,
    host: '127.0.0.1',
    port,
    logger: pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) }),
    limits,
  })

beforeEach(async () => {
  memory = createMemoryServices()
  logged = []
  api = await start()
})

afterEach(() => api.close())

const path = (version: string) => `/api/${version}/31337/${memoryKeys.apiKey}`

const post = async (where: string, body: string | Uint8Array<ArrayBuffer>, headers = {}) => {
  const response = await fetch(`${api.url}${where}`, {
    method: 'POST',
    body,
    headers,
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}

const call = (version: string, method: string, params: unknown, id: unknown = 1) =>
  post(path(version), JSON.stringify({ method, params, id, jsonrpc: '2.0' }))

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

  test.each([[`${path('v2')}/`], [`${path('v2')}?x=1&y`], [`${path('v2')}/?`]])(
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
    const response = await fetch(`${api.url}${path('v2')}`)
    expect(response.status).toBe(405)
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } })
  })

  test.each([['/'], ['/api/v4/31337/key'], ['/api/v2/31337'], ['/api/v2/31337/a/b'], ['/%zz']])(
    '%s is not found',
    async (where) => {
      expect(await post(where, '{}')).toMatchObject({ status: 404, body: { statusCode: 404 } })
    },
  )

  test('browsers may call from anywhere', async () => {
    const preflight = await fetch(`${api.url}${path('v2')}`, {
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

  test('health is live always, ready when the parts are', async () => {
    const get = async (where: string) => {
      const response = await fetch(`${api.url}${where}`)
      return { status: response.status, body: await response.json() }
    }
    expect(await get('/health')).toEqual({
      status: 200,
      body: { status: 'ok', checks: { database: true } },
    })
    memory.setReady(false)
    expect((await get('/health/live')).status).toBe(200)
    expect(await get('/health/ready')).toEqual({
      status: 503,
      body: { status: 'unavailable', checks: { database: false } },
    })
  })
})

describe('the life of an operation', () => {
  test('in the classic dialect', async () => {
    const options = { simulation_type: 'validation_and_execution' }
    const sent = await call('v2', 'eth_sendUserOperation', [rpcOperation06, entryPoint, options])
    const hash = sent.body.result
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
    expect(memory.calls.at(-1)?.arguments[2]).toEqual({ appId: 'app-1', simulateExecution: true })
    const again = await call('v2', 'eth_sendUserOperation', [rpcOperation06, entryPoint])
    expect(again.body.result).toBe(hash)

    expect(await call('v2', 'eth_getUserOperationReceipt', [hash])).toMatchObject({
      status: 200,
      body: { id: 1, result: null },
    })
    expect((await call('v2', 'biconomy_getUserOperationStatus', [hash])).body.result).toEqual({
      state: 'BUNDLER_MEMPOOL',
    })
    memory.include(hash)
    const receipt = await call('v2', 'eth_getUserOperationReceipt', [hash])
    expect(receipt.body.result).toMatchObject({ userOpHash: hash, success: 'true', nonce: 5 })
    const byHash = await call('v2', 'eth_getUserOperationByHash', [hash])
    expect(byHash.body.result).toMatchObject({ nonce: '0x0', initCode: '0x', blockNumber: 7 })
  })

  test('in the standard dialect, which v2 speaks on request', async () => {
    const sent = await call('v3', 'eth_sendUserOperation', [
      rpcOperation07,
      entryPointAddresses['0.7'],
    ])
    memory.include(sent.body.result)
    const body = JSON.stringify({
      id: 1,
      method: 'eth_getUserOperationReceipt',
      params: [sent.body.result],
    })
    for (const where of [path('v3'), `${path('v2')}?dialect=standard`])
      expect((await post(where, body)).body.result).toMatchObject({ success: true, nonce: '0x5' })
    expect((await post(`${path('v3')}?dialect=classic`, body)).body.result.success).toBe('true')
    const byHash = await call('v3', 'eth_getUserOperationByHash', [sent.body.result])
    expect(byHash.body.result.userOperation).toMatchObject({
      factory: rpcOperation07.factory.toLowerCase(),
      paymasterData: '0xabcd',
    })
  })

  test('an unknown dialect is refused', async () => {
    expect(await post(`${path('v2')}?dialect=latin`, '{"id":5}')).toMatchObject({
      status: 400,
      body: { id: 5, error: { code: -32602, data: { field: 'dialect' } } },
    })
  })

  test('the status of an unknown hash is an error with HTTP 200', async () => {
    for (const version of ['v2', 'v3'])
      expect(await call(version, 'biconomy_getUserOperationStatus', [unknownHash])).toMatchObject({
        status: 200,
        body: {
          error: {
            code: -32004,
            message: `UserOpHash: ${unknownHash} not found for chainId: 31337`,
          },
        },
      })
    expect(await call('v2', 'eth_getUserOperationByHash', [unknownHash])).toMatchObject({
      status: 200,
      body: { result: null },
    })
  })
})

describe('methods', () => {
  test('estimate with and without a state override', async () => {
    const override = { [address('A')]: { balance: '0x1' } }
    const answer = await call('v2', 'eth_estimateUserOperationGas', [
      rpcOperation06,
      entryPoint,
      override,
    ])
    expect(answer.body.result.validUntil).toEqual({ type: 'BigNumber', hex: '0x6b49d200' })
    expect(memory.calls.at(-1)?.arguments[2]).toEqual({ [address('a')]: { balance: '0x1' } })
    await call('v2', 'eth_estimateUserOperationGas', [rpcOperation06, entryPoint])
    expect(memory.calls.at(-1)?.arguments[2]).toBeUndefined()
  })

  test('names of the service', async () => {
    expect((await call('v2', 'eth_supportedEntryPoints', [])).body.result[0]).toBe(
      '0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789',
    )
    expect((await call('v2', 'web3_clientVersion', [])).body.result).toBe('purser/test')
    expect((await call('v2', 'biconomy_getGasFeeValues', [])).body.result).toMatchObject({
      maxFeePerGas: '2',
      fast: { maxFeePerGas: '3' },
    })
  })

  test('a refused sponsorship is a result; by ERC-7677 it is an error', async () => {
    const mode = { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { refuse: true } } }
    expect(await call('v1', 'pm_sponsorUserOperation', [rpcOperation06, mode])).toMatchObject({
      status: 200,
      body: {
        result: {
          paymasterAndData: '0x',
          callGasLimit: 100_000,
          sponsorship: { sponsored: false, code: 'webhook_denied' },
        },
      },
    })
    const params = [rpcOperation06, entryPoint, '0x7a69', mode]
    expect(await call('v1', 'pm_getPaymasterData', params)).toMatchObject({
      status: 400,
      body: {
        error: {
          code: -32501,
          message: 'The webhook denied the sponsorship.',
          data: { code: 'webhook_denied' },
        },
      },
    })
  })

  test('a stub asks no webhook', async () => {
    const mode = { mode: 'SPONSORED', sponsorshipInfo: { webhookData: { refuse: true } } }
    const answer = await call('v3', 'pm_getPaymasterStubData', [
      rpcOperation07,
      entryPointAddresses['0.7'],
      31_337,
      mode,
    ])
    expect(answer.body.result).toMatchObject({ paymaster: address('7'), isFinal: false })
    expect(memory.calls.at(-1)?.arguments[0]).toMatchObject({ webhookData: undefined })
  })

  test('mode ERC20 is refused in every method, without and with a token', async () => {
    const tokenInfo = { feeTokenAddress: address('b') }
    const withToken = { mode: 'ERC20', tokenInfo }
    const params = { params7677: [rpcOperation06, entryPoint, '0x7a69', withToken] }
    for (const [method, values] of [
      ['pm_sponsorUserOperation', [rpcOperation06, withToken]],
      ['pm_getFeeQuoteOrData', [rpcOperation06, withToken]],
      ['pm_getPaymasterData', params.params7677],
      ['pm_getPaymasterStubData', params.params7677],
    ] as const)
      expect(await call('v1', method, values)).toMatchObject({
        status: 400,
        body: {
          error: {
            code: -32602,
            message: expect.stringContaining('no ERC-20 token is configured'),
          },
        },
      })
    expect(
      (await call('v1', 'pm_sponsorUserOperation', [rpcOperation06, { mode: 'ERC20' }])).body.error
        .message,
    ).toContain('params[1].tokenInfo.feeTokenAddress: is missing')
    expect(memory.calls).toEqual([])
  })
})

describe('errors', () => {
  test('of a call are HTTP 400 in the classic, 200 in the standard dialect', async () => {
    for (const [version, status] of [
      ['v1', 400],
      ['v2', 400],
      ['v3', 200],
    ] as const) {
      expect(await call(version, 'eth_nothing', [], 'my id')).toMatchObject({
        status,
        body: {
          jsonrpc: '2.0',
          id: 'my id',
          error: { code: -32601, message: 'Method not supported: eth_nothing' },
        },
      })
      expect(await post(path(version), '{"id":')).toMatchObject({
        status,
        body: { id: null, error: { code: -32700 } },
      })
    }
  })

  test('of the EntryPoint keep their AA text and carry the rule', async () => {
    const services = {
      ...memory.services,
      chains: new Map([
        [
          31_337,
          {
            ...memory.chain,
            admit: async () => {
              throw new ValidationRejectedError({
                message: 'AA25 invalid account nonce',
                rule: 'AA25',
              })
            },
          },
        ],
      ]),
    }
    await api.close()
    api = await startApi({
      services,
      host: '127.0.0.1',
      port: 0,
      logger: pino({ level: 'silent' }),
      limits: defaultLimits,
    })
    expect(await call('v2', 'eth_sendUserOperation', [rpcOperation06, entryPoint])).toMatchObject({
      status: 400,
      body: {
        error: {
          code: -32500,
          message: 'AA25 invalid account nonce',
          data: { rule: 'AA25' },
        },
      },
    })
  })

  test('of our own are logged under a reference that the caller is told, and nothing else', async () => {
    const services = {
      ...memory.services,
      webhooks: {
        ...memory.services.webhooks,
        get: () => Promise.reject(new Error('secret at /home/purser')),
      },
      chains: new Map([
        [
          31_337,
          { ...memory.chain, fees: () => Promise.reject(new Error('secret at /home/purser')) },
        ],
      ]),
    }
    await api.close()
    api = await startApi({
      services,
      host: '127.0.0.1',
      port: 0,
      logger: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
      limits: defaultLimits,
    })
    const answer = await call('v2', 'biconomy_getGasFeeValues', [])
    expect(answer).toMatchObject({ status: 500, body: { error: { code: -32603 } } })
    expect(JSON.stringify(answer.body)).not.toContain('secret')
    const { reference } = answer.body.error.data
    expect(logged.filter((line) => line.includes(reference))).toHaveLength(1)
    expect(logged.join('')).toContain('secret at /home/purser')

    const id = '00000000-0000-4000-8000-000000000000'
    const rest = await fetch(`${api.url}/api/v2/public/sdk/webhook?webhookId=${id}`, {
      headers: { authToken: memoryKeys.authToken, apiKey: memoryKeys.apiKey },
    })
    expect(rest.status).toBe(500)
    expect(await rest.json()).toEqual({
      statusCode: 500,
      message: expect.stringMatching(/^Internal error\. Quote reference [0-9a-f-]{36}/),
    })
  })

  test('the key in the path is never logged', async () => {
    await call('v2', 'eth_nothing', [])
    await post('/api/v2/31337/secret.key', '{"id":1,"method":"eth_chainId"}')
    expect(logged.length).toBeGreaterThan(0)
    expect(logged.join('')).not.toMatch(/secret\.key|app-1\.key/)
  })
})

describe('batches', () => {
  test('answer in the order of the calls, errors among results, with HTTP 200', async () => {
    const batch = [
      { id: 'a', method: 'eth_chainId' },
      { id: 2, method: 'eth_nothing' },
      5,
      { id: null, method: 'web3_clientVersion', params: [] },
      { method: 'eth_chainId' },
    ]
    const answer = await post(path('v2'), JSON.stringify(batch))
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual([
      { jsonrpc: '2.0', id: 'a', result: '0x7a69' },
      { jsonrpc: '2.0', id: 2, error: expect.objectContaining({ code: -32601 }) },
      { jsonrpc: '2.0', id: null, error: expect.objectContaining({ code: -32600 }) },
      { jsonrpc: '2.0', id: null, result: 'purser/test' },
    ])
  })

  test('that are empty or too long are one error', async () => {
    const tooLong = Array.from({ length: 101 }, (_, id) => ({ id, method: 'eth_chainId' }))
    for (const batch of [[], tooLong])
      expect(await post(path('v2'), JSON.stringify(batch))).toMatchObject({
        status: 400,
        body: { id: null, error: { code: -32600 } },
      })
    expect((await post(path('v2'), JSON.stringify(tooLong.slice(1)))).body).toHaveLength(100)
  })

  test('notifications are run and not answered', async () => {
    const notification = { method: 'biconomy_getGasFeeValues' }
    for (const body of [notification, [notification, { method: 'eth_nothing' }]]) {
      const before = memory.calls.length
      expect(await post(path('v2'), JSON.stringify(body))).toMatchObject({ status: 204, body: '' })
      expect(memory.calls.length).toBe(before + 1)
    }
  })
})

describe('bodies', () => {
  test('up to the limit are read, larger ones are 413, announced or not', async () => {
    const request = '{"id":1,"method":"eth_chainId"}'
    const fitting = request.padEnd(defaultLimits.bodyBytes, ' ')
    expect((await post(path('v2'), fitting)).status).toBe(200)
    const stream = new ReadableStream({
      start(controller) {
        for (let kib = 0; kib < 1_500; kib++) controller.enqueue(new Uint8Array(1024).fill(32))
        controller.close()
      },
    })
    const chunked = await fetch(`${api.url}${path('v3')}`, {
      method: 'POST',
      body: stream,
      duplex: 'half',
    } as RequestInit)
    expect(chunked.status).toBe(413)
    expect(await chunked.json()).toMatchObject({ id: null, error: { code: -32600 } })
    expect(await post(path('v2'), `${fitting} `)).toMatchObject({
      status: 413,
      body: { jsonrpc: '2.0', id: null, error: { code: -32600 } },
    })
  })

  test('that are compressed, of another alphabet or nested too deep are refused', async () => {
    const deep = `{"id":1,"method":"eth_chainId","params":${'['.repeat(40)}${']'.repeat(40)}}`
    expect((await post(path('v2'), deep)).body.error.message).toContain('nested deeper than 32')
    for (const bytes of [gzipSync('{}'), Buffer.from('{"id":1}', 'utf16le'), new Uint8Array()])
      expect((await post(path('v2'), bytes)).body.error.code).toBe(-32700)
  })

  test('need no content type', async () => {
    const body = '{"id":1,"method":"eth_chainId"}'
    expect((await post(path('v2'), body, { 'content-type': 'text/html' })).status).toBe(200)
  })
})

describe('starting and closing', () => {
  test('a taken port is one clear sentence', async () => {
    const port = Number(new URL(api.url).port)
    await expect(start(defaultLimits, port)).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: the port is in use by another process.`,
    )
  })

  test('closing lets a running request finish, then nothing listens', async () => {
    let release: () => void = () => {}
    const started = new Promise<void>((resolve) => {
      memory.services.chains.get(31_337)!.fees = () => {
        resolve()
        return new Promise((finish) => {
          release = () =>
            finish({
              slow: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
              standard: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
              fast: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
            })
        })
      }
    })
    const running = call('v2', 'biconomy_getGasFeeValues', [])
    await started
    const closing = api.close()
    await expect(fetch(`${api.url}/health/live`)).rejects.toThrow()
    release()
    expect((await running).body.result.maxFeePerGas).toBe('1')
    await closing
    await api.close()
  })

  test('closing does not wait for a request that hangs', async () => {
    await api.close()
    api = await start({ ...defaultLimits, closeTimeout: 50 })
    memory.services.chains.get(31_337)!.fees = () => new Promise(() => {})
    const hanging = call('v2', 'biconomy_getGasFeeValues', []).catch((error: Error) => error)
    await api.close()
    expect(await hanging).toBeInstanceOf(Error)
  })

  test('bytes that are no HTTP are answered by closing, and the server stays', async () => {
    const { hostname, port } = new URL(api.url)
    for (const bytes of [
      'nonsense\r\n\r\n',
      `POST ${path('v2')} HTTP/1.1\r\nHost: a b\r\nContent-Length: 2\r\n\r\n{}`,
      `POST ${path('v2')} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      `POST ${path('v2')} HTTP/1.1\r\nContent-Length: -1\r\n\r\n`,
    ]) {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), hostname, () => socket.write(bytes))
        let text = ''
        socket.on('data', (data) => {
          text += data
          socket.end()
        })
        socket.on('close', () => resolve(text)).on('error', reject)
      })
      expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /)
      expect(answer).not.toContain('node_modules')
    }
    expect((await call('v2', 'eth_chainId', [])).status).toBe(200)
  })
})

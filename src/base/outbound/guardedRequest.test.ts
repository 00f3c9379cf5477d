import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { selfSigned } from '../../../test/support/http/selfSigned.js'
import {
  createOutboundClient,
  type OutboundClient,
  type OutboundRequest,
} from './guardedRequest.js'
import { createNetworkGuard, loopback } from './networkGuard.js'

const cleanup: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end()
})

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  cleanup.push(() => {
    for (const socket of sockets) socket.destroy()
    return new Promise((done) => server.close(done))
  })
  return (server.address() as AddressInfo).port
}

async function startHttp(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}/`
}

async function startTcp(onConnection: (socket: Socket) => void): Promise<string> {
  return `http://127.0.0.1:${await listen(createTcpServer(onConnection))}/`
}

function open(...given: Parameters<typeof createOutboundClient>): OutboundClient {
  const client = createOutboundClient(...given)
  cleanup.push(() => client.close())
  return client
}

function development(): OutboundClient {
  return open(createNetworkGuard(loopback))
}

function get(url: string): OutboundRequest {
  return {
    url: new URL(url),
    method: 'GET',
    headers: { 'x-test': 'yes' },
    body: undefined,
  }
}

const never = new AbortController().signal

describe('a healthy endpoint', () => {
  test('gets the bytes as given and answers with its body', async () => {
    const url = await startHttp(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const { method, url: path, headers } = request
      response.end(
        JSON.stringify({ method, path, headers, body: Buffer.concat(chunks).toString() }),
      )
    })
    const body = Buffer.from('{"data":{"n":1.50,"s":"é\\u00e9"}}')
    const target = new URL('/hook?x=1&y=%20', url)
    const { attempts, response } = await development().request(
      { url: target, method: 'POST', headers: { 'content-type': 'application/json' }, body },
      never,
    )
    expect(attempts).toBe(1)
    expect(response).toMatchObject({ ok: true, status: 200 })
    const seen = JSON.parse(response.ok ? response.body : '')
    expect(seen).toMatchObject({ method: 'POST', path: '/hook?x=1&y=%20', body: body.toString() })
    expect(seen.headers['content-length']).toBe(String(body.length))
    expect(seen.headers['content-type']).toBe('application/json')
  })

  test('keeps its connection for the next call', async () => {
    const ports: (number | undefined)[] = []
    const url = await startHttp((request, response) => {
      ports.push(request.socket.remotePort)
      response.end('{}')
    })
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    cleanup.push(() => process.off('warning', onWarning))
    const client = development()
    for (let call = 0; call < 30; call++) await client.request(get(url), never)
    expect(new Set(ports).size).toBe(1)
    expect(warnings).toEqual([])
  })

  test('may answer any 2xx', async () => {
    const url = await startHttp((_, response) => response.writeHead(201).end('{}'))
    const { response } = await development().request(get(url), never)
    expect(response).toEqual({ ok: true, status: 201, type: '', body: '{}' })
  })
})

describe('answers that are none', () => {
  test.each([301, 302, 307, 308])('a redirect (%d) to loopback is not followed', async (status) => {
    let inner = 0
    const target = await startHttp((_, response) => {
      inner++
      response.end('{"arePoliciesVerified":true}')
    })
    const url = await startHttp((_, response) =>
      response.writeHead(status, { location: target }).end(),
    )
    const { attempts, response } = await development().request(get(url), never)
    expect(response).toMatchObject({ ok: false, outcome: 'redirect', status })
    expect(attempts).toBe(1)
    expect(inner).toBe(0)
  })

  test.each([400, 401, 404, 429, 500, 503])(
    'status %d is reported and not retried',
    async (status) => {
      let calls = 0
      const url = await startHttp((_, response) => {
        calls++
        response.writeHead(status).end('{"arePoliciesVerified":true}')
      })
      const { response } = await development().request(get(url), never)
      expect(response).toMatchObject({ ok: false, outcome: 'http_status', status })
      expect(calls).toBe(1)
    },
  )

  test('16 kB pass, one byte more does not, announced or not', async () => {
    const sizes = [16_384, 16_385, 50_000_000]
    const url = await startHttp((request, response) => {
      const size = Number(request.url?.slice(1))
      if (size > 1_000_000) response.writeHead(200, { 'content-length': size })
      response.write('x'.repeat(Math.min(size, 16_384)))
      if (size > 16_384) response.write('x'.repeat(size - 16_384))
      response.end()
    })
    const client = development()
    const outcomes = []
    for (const size of sizes) {
      const { response } = await client.request(get(`${url}${size}`), never)
      outcomes.push(response.ok ? response.body.length : response.outcome)
    }
    expect(outcomes).toEqual([16_384, 'too_large', 'too_large'])
  })

  test('what is not HTTP is an invalid response', async () => {
    const url = await startTcp((socket) => socket.once('data', () => socket.end('SSH-2.0-x\r\n')))
    const { response } = await development().request(get(url), never)
    expect(response).toMatchObject({ ok: false, outcome: 'invalid_response' })
  })

  test('a switch of the protocol is an invalid response', async () => {
    const url = await startTcp((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      ),
    )
    const { attempts, response } = await development().request(
      get(url),
      AbortSignal.timeout(60_000),
    )
    expect(response).toMatchObject({ ok: false, outcome: 'invalid_response', status: 101 })
    expect(attempts).toBe(1)
  })

  test('a body that ends too early is a failed connection', async () => {
    const url = await startTcp((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{')),
    )
    const { attempts, response } = await development().request(get(url), never)
    expect(response).toMatchObject({ ok: false, outcome: 'connect_error' })
    expect(attempts).toBe(1)
  })
})

describe('the time limit', () => {
  const limited = (client: OutboundClient, url: string) =>
    client.request(get(url), AbortSignal.timeout(150))

  test('ends a server that hangs before its headers', async () => {
    const url = await startTcp(() => undefined)
    const { attempts, response } = await limited(development(), url)
    expect(response).toMatchObject({ ok: false, outcome: 'timeout' })
    expect(attempts).toBe(1)
  })

  test('ends a server that drips its body', async () => {
    const limit = new AbortController()
    const url = await startHttp((_, response) => {
      let drops = 0
      const drip = setInterval(() => {
        response.write(' ')
        drops += 1
        if (drops === 10) limit.abort()
      }, 10)
      response.on('close', () => clearInterval(drip))
    })
    const { response } = await development().request(get(url), limit.signal)
    expect(response).toMatchObject({ ok: false, outcome: 'timeout', status: 200 })
  })

  test('is not used up in a queue: requests that hang do not hold up others of the host', async () => {
    const url = await startHttp((request, response) => {
      if (request.url === '/ok') response.end('{}')
    })
    const client = development()
    const hanging = new AbortController()
    const slow = Array.from({ length: 25 }, () =>
      client.request(get(`${url}slow`), AbortSignal.any([hanging.signal])),
    )
    const { response } = await client.request(get(`${url}ok`), AbortSignal.timeout(60_000))
    expect(response).toMatchObject({ ok: true })
    hanging.abort()
    for (const each of await Promise.all(slow))
      expect(each.response).toMatchObject({ ok: false, outcome: 'timeout' })
  })

  test('ends a resolver that never answers', async () => {
    const client = open(createNetworkGuard([]), { resolve: () => new Promise(() => undefined) })
    const { response } = await limited(client, 'https://slow.example/')
    expect(response).toMatchObject({ ok: false, outcome: 'timeout' })
  })

  test('ends a TLS handshake that never completes', async () => {
    const url = await startTcp(() => undefined)
    const { response } = await limited(development(), url.replace('http:', 'https:'))
    expect(response).toMatchObject({ ok: false, outcome: 'timeout' })
  })
})

describe('addresses', () => {
  const answering = (...addresses: string[]) =>
    open(createNetworkGuard([]), {
      resolve: async () =>
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    })

  test.each([
    ['loopback', ['127.0.0.1']],
    ['IPv6-mapped loopback', ['::ffff:127.0.0.1']],
    ['a private address behind a public one', ['93.184.216.34', '10.0.0.1']],
    ['cloud metadata', ['169.254.169.254']],
    ['unique local IPv6', ['fd00::1']],
  ])('a name that resolves to %s is blocked', async (_, addresses) => {
    const { response } = await answering(...addresses).request(get('https://a.example/'), never)
    expect(response).toMatchObject({ ok: false, outcome: 'blocked_address', status: undefined })
  })

  test('the socket goes to the answer that was checked: one resolution for each connection', async () => {
    let calls = 0
    const url = await startHttp((_, response) => response.end('{}'))
    const resolve = async () => {
      calls++
      return [{ address: '127.0.0.1', family: 4 }]
    }
    const client = open(createNetworkGuard(['127.0.0.0/8', 'app.example']), { resolve })
    const { response } = await client.request(get(url.replace('127.0.0.1', 'app.example')), never)
    expect(response).toMatchObject({ ok: true })
    expect(calls).toBe(1)
  })

  test('a literal is refused without any attempt', async () => {
    let calls = 0
    const url = await startHttp((_, response) => {
      calls++
      response.end()
    })
    const { port } = new URL(url)
    for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '017700000001', '[::ffff:7f00:1]']) {
      const { attempts, response } = await open(createNetworkGuard([])).request(
        get(`https://${host}:${port}/`),
        never,
      )
      expect(response, host).toMatchObject({ ok: false, outcome: 'blocked_address' })
      expect(attempts, host).toBe(0)
    }
    expect(calls).toBe(0)
  })

  test('a name without answer is a DNS error', async () => {
    const { response } = await answering().request(get('https://a.example/'), never)
    expect(response).toMatchObject({ ok: false, outcome: 'dns_error' })
    const failing = open(createNetworkGuard([]), {
      resolve: () => Promise.reject(new Error('EAI_AGAIN')),
    })
    const second = await failing.request(get('https://a.example/'), never)
    expect(second.response).toMatchObject({ ok: false, outcome: 'dns_error' })
  })

  test('an untrusted certificate is a TLS error', async () => {
    const port = await listen(createTlsServer(selfSigned, (_, response) => response.end('{}')))
    const { attempts, response } = await development().request(
      get(`https://localhost:${port}/`),
      never,
    )
    expect(response).toMatchObject({ ok: false, outcome: 'tls_error' })
    expect(response.ok ? '' : response.reason).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT/)
    expect(attempts).toBe(1)
  })
})

describe('the one retry', () => {
  test('a refused connection is tried twice', async () => {
    const server = createTcpServer()
    const port = await listen(server)
    await new Promise((done) => server.close(done))
    const { attempts, response } = await development().request(
      get(`http://127.0.0.1:${port}/`),
      never,
    )
    expect(response).toMatchObject({ ok: false, outcome: 'connect_error' })
    expect(response.ok ? '' : response.reason).toMatch(/ECONNREFUSED/)
    expect(attempts).toBe(2)
  })

  const reply = 'HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n{}'

  test('a kept connection that the server resets is replaced by a new one', async () => {
    const requests: number[] = []
    const url = await startTcp((socket) => {
      let seen = 0
      socket.on('data', () => {
        requests.push(++seen)
        if (seen === 1) socket.write(reply)
        else socket.resetAndDestroy()
      })
    })
    const client = development()
    await client.request(get(url), never)
    const { attempts, response } = await client.request(get(url), never)
    expect(response).toMatchObject({ ok: true, body: '{}' })
    expect(attempts).toBe(2)
    expect(requests).toEqual([1, 2, 1])
  })

  test('a kept connection that breaks after the first byte of an answer is not retried', async () => {
    const url = await startTcp((socket) => {
      let seen = 0
      socket.on('data', () => {
        if (++seen === 1) socket.write(reply)
        else socket.end('HTTP/1.1 2')
      })
    })
    const client = development()
    await client.request(get(url), never)
    const { attempts, response } = await client.request(get(url), never)
    expect(response).toMatchObject({ ok: false })
    expect(attempts).toBe(1)
  })

  test('a new connection that the server resets is not retried', async () => {
    let connections = 0
    const url = await startTcp((socket) => {
      connections++
      socket.on('data', () => socket.resetAndDestroy())
    })
    const { attempts, response } = await development().request(get(url), never)
    expect(response).toMatchObject({ ok: false, outcome: 'connect_error' })
    expect(attempts).toBe(1)
    expect(connections).toBe(1)
  })
})

import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { rpcPath, useApi } from '../../test/support/http/useApi.js'
import { type ApiLimits, defaultLimits } from './routeContext.js'

const { call, close, drain, memory, restart, start, url } = useApi()

describe('one connection', () => {
  const request = 'GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n'

  /** Writes to a socket of its own. @returns the answers that came before the connection was closed */
  const answersTo = (text: string, awaited: number) =>
    new Promise<{ readonly answers: number; readonly closed: boolean }>((resolve) => {
      const socket = connect(Number(new URL(url()).port), '127.0.0.1')
      let received = ''
      const count = () => received.split('HTTP/1.1 200').length - 1
      socket.on('data', (bytes) => {
        received += bytes
        if (count() < awaited) return
        resolve({ answers: count(), closed: false })
        socket.destroy()
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve({ answers: count(), closed: true }))
      socket.write(text)
    })

  test('may send some requests before it has their answers', async () => {
    expect(await answersTo(request.repeat(16), 16)).toEqual({ answers: 16, closed: false })
  })

  test('is closed when it sends a thousand, and others are answered', async () => {
    const { answers, closed } = await answersTo(request.repeat(1_000), 1_000)
    expect(closed).toBe(true)
    expect(answers).toBeLessThanOrEqual(16)
    expect((await fetch(`${url()}/health`)).status).toBe(200)
  })

  test('takes any number of requests one after the other', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const sockets = new Set<unknown>()
    for (let n = 0; n < 100; n++)
      await new Promise<void>((resolve, reject) => {
        const asked = get(`${url()}/health`, { agent }, (answer) => {
          expect(answer.statusCode).toBe(200)
          answer.resume().on('end', resolve)
        })
        asked.on('socket', (socket) => sockets.add(socket))
        asked.on('error', reject)
      })
    agent.destroy()
    expect(sockets.size).toBe(1)
  })
})

describe('answers that nobody reads', () => {
  const LONG = 600_000
  const MIB = 1024 * 1024
  const read = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['0x1', true] }

  async function serveLarge(limits: Pick<ApiLimits, 'answerTimeout' | 'unreadBytes'>) {
    const { services, chain } = memory()
    const { reads } = chain
    if (reads === undefined) throw new Error('There are reads.')
    const large = { ...reads, read: async () => 'x'.repeat(8 * MIB) }
    const chains = new Map([[chain.chainId, { ...chain, reads: large }]])
    await restart({ services: { ...services, chains }, limits: { ...defaultLimits, ...limits } })
  }

  /** Sends requests for batches of so many large answers. @returns when an answer has begun, and nothing of it is read */
  async function askFor(...batches: readonly number[]) {
    const socket = connect(Number(new URL(url()).port), '127.0.0.1').on('error', () => {})
    for (const length of batches) {
      const body = JSON.stringify(Array(length).fill(read))
      const head = `POST ${rpcPath('v3')} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n`
      socket.write(head + body)
    }
    await once(socket, 'readable')
    return socket
  }

  /** Reads until the connection is closed, or `bytes` have come; rests for `pause` milliseconds after each piece. */
  async function readFrom(socket: Socket, bytes: number, pause = 0): Promise<number> {
    let received = 0
    try {
      for await (const piece of socket) {
        received += piece.length
        if (received > bytes) break
        if (pause > 0) await delay(pause)
      }
    } catch {}
    return received
  }

  test('end their connection after some time', async () => {
    await serveLarge({ answerTimeout: 500, unreadBytes: 64 * MIB })
    const closed = new Promise<unknown>((resolve) => {
      const hear = (message: unknown) => {
        unsubscribe('net.server.socket', hear)
        resolve(once((message as { readonly socket: Socket }).socket, 'close'))
      }
      subscribe('net.server.socket', hear)
    })
    const socket = await askFor(3)
    await closed
    expect(await readFrom(socket, 24 * MIB)).toBeLessThan(24 * MIB)
  })

  test('end the connection at once when all together are too large, and others are answered', async () => {
    await serveLarge({ answerTimeout: LONG, unreadBytes: 20 * MIB })
    const slow = await askFor(1)
    expect(await readFrom(await askFor(3), 24 * MIB)).toBeLessThan(24 * MIB)
    // Three answers fit one by one, and not behind one that is not read.
    expect(await readFrom(await askFor(1, 1, 1), 24 * MIB)).toBeLessThan(24 * MIB)
    expect((await call('v3', read.method, read.params)).body.result).toHaveLength(8 * MIB)
    expect(await readFrom(slow, 8 * MIB)).toBeGreaterThan(8 * MIB)
  })

  test('end the connection that has most of them, not that of a client which reads', async () => {
    await serveLarge({ answerTimeout: LONG, unreadBytes: 20 * MIB })
    const idle = await askFor(2)
    expect((await call('v3', read.method, read.params)).body.result).toHaveLength(8 * MIB)
    expect(await readFrom(idle, 16 * MIB)).toBeLessThan(16 * MIB)
  })

  test('do not close a connection that keeps reading, however slowly', async () => {
    await serveLarge({ answerTimeout: 1_000, unreadBytes: 64 * MIB })
    const slow = await askFor(3)
    const begin = performance.now()
    expect(await readFrom(slow, 24 * MIB, 8)).toBeGreaterThan(24 * MIB)
    expect(performance.now() - begin).toBeGreaterThan(2_000)
  })

  test('are no matter of a client that reads them in time', async () => {
    await serveLarge({ answerTimeout: LONG, unreadBytes: 10 * MIB })
    for (let n = 0; n < 4; n++)
      expect((await call('v3', read.method, read.params)).body.result).toHaveLength(8 * MIB)
  })
})

describe('starting and closing', () => {
  test('a taken port is one clear sentence', async () => {
    const port = Number(new URL(url()).port)
    await expect(start({ port })).rejects.toThrow(
      `Cannot listen on 127.0.0.1:${port}: the port is in use by another process.`,
    )
  })

  test('closing lets a running request finish, then nothing listens', async () => {
    let release: () => void = () => {}
    const started = new Promise<void>((resolve) => {
      memory().services.chains.get(31_337)!.fees = () => {
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
    const closing = close()
    await expect(fetch(`${url()}/health/live`)).rejects.toThrow()
    release()
    expect((await running).body.result.maxFeePerGas).toBe('1')
    await closing
    await close()
  })

  test('while it drains it answers all, and asks each client to come to another one next', async () => {
    const { hostname, port } = new URL(url())
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () =>
      new Promise<string | undefined>((resolve, reject) => {
        get({ hostname, port, path: '/health/live', agent }, (response) => {
          response.resume().on('end', () => resolve(response.headers.connection))
        }).on('error', reject)
      })
    expect(await ask()).toBe('keep-alive')
    drain()
    expect(await ask()).toBe('close')
    expect(await ask()).toBe('close')
    agent.destroy()
  })

  test('closing does not wait for a request that hangs', async () => {
    await restart({ limits: { ...defaultLimits, closeTimeout: 50 } })
    memory().services.chains.get(31_337)!.fees = () => new Promise(() => {})
    const hanging = call('v2', 'biconomy_getGasFeeValues', []).catch((error: Error) => error)
    await close()
    expect(await hanging).toBeInstanceOf(Error)
  })

  test('bytes that are no HTTP are answered by closing, and the server stays', async () => {
    const { hostname, port } = new URL(url())
    for (const bytes of [
      'nonsense\r\n\r\n',
      `POST ${rpcPath('v2')} HTTP/1.1\r\nHost: a b\r\nContent-Length: 2\r\n\r\n{}`,
      `POST ${rpcPath('v2')} HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      `POST ${rpcPath('v2')} HTTP/1.1\r\nContent-Length: -1\r\n\r\n`,
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

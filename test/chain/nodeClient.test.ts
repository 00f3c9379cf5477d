import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createNodeClient,
  type NodeClient,
  type NodeClientOptions,
} from '../../src/chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import { type HttpNode, startHttpNode } from '../support/chain/httpNode.js'
import { silent } from '../support/logger.js'

const cleanups: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function node(handler: Parameters<typeof startHttpNode>[0]): Promise<HttpNode> {
  const started = await startHttpNode(handler)
  cleanups.push(started.stop)
  return started
}

function client(
  urls: readonly string[],
  options: Pick<NodeClientOptions, 'deadline' | 'onExchange' | 'maxAnswerBytes'> = {},
): NodeClient {
  const created = createNodeClient({ urls, logger: silent, ...options })
  cleanups.push(created.close)
  return created
}

type Request = { id: number; method: string; params: unknown[] }
function echo(body: unknown) {
  const requests = (Array.isArray(body) ? body : [body]) as Request[]
  const answers = requests.map(({ id, method }) => ({ jsonrpc: '2.0', id, result: method }))
  return JSON.stringify(Array.isArray(body) ? answers.reverse() : answers[0])
}

describe('request', () => {
  test('returns the result and counts the call', async () => {
    const counted: string[] = []
    const { url } = await node((body, response) => response.end(echo(body)))
    const { request } = client([url], {
      onExchange: ({ methods, outcome }) => counted.push(...methods, outcome),
    })
    expect(await request('eth_chainId', [])).toBe('eth_chainId')
    expect(counted).toEqual(['eth_chainId', 'answered'])
  })

  test('keeps path, query and credentials of the URL', async () => {
    let seen: unknown
    const { url } = await node((body, response, { url: path, headers }) => {
      seen = { path, authorization: headers.authorization }
      response.end(echo(body))
    })
    const address = `${url.replace('://', '://me:s%40cret@')}/v2/key?x=1`
    await client([address]).request('eth_chainId', [])
    expect(seen).toEqual({
      path: '/v2/key?x=1',
      authorization: `Basic ${Buffer.from('me:s@cret').toString('base64')}`,
    })
  })

  test('an error of the node is thrown once, with its revert data, and not repeated', async () => {
    const refusing = await node((_, response) => {
      response.end('{"id":0,"error":{"code":3,"message":"execution reverted","data":"0x1234"}}')
    })
    const error: Error & { cause?: unknown } = await client([refusing.url])
      .request<never>('eth_call', [])
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(NodeRpcError)
    expect(error).toMatchObject({ code: 3, message: 'execution reverted', revertData: '0x1234' })
    expect(refusing.bodies).toHaveLength(1)
  })

  test('an error body counts as an answer whatever the HTTP status', async () => {
    const { url } = await node((_, response) => {
      response.statusCode = 400
      response.end('{"id":0,"error":{"code":-32602,"message":"bad"}}')
    })
    await expect(client([url]).request('eth_call', [])).rejects.toMatchObject({ code: -32602 })
  })

  test('reads move on to the next endpoint when one breaks, and stay there', async () => {
    // The rest of the broken one, of half a second or more, does not end meanwhile.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => clock.mockRestore())
    const broken = await node((_, response) => response.destroy())
    const healthy = await node((body, response) => response.end(echo(body)))
    const { request } = client([broken.url, healthy.url])
    expect(await request('eth_blockNumber', [])).toBe('eth_blockNumber')
    expect(await request('eth_blockNumber', [])).toBe('eth_blockNumber')
    expect(broken.bodies).toHaveLength(1)
    expect(healthy.bodies).toHaveLength(2)
  })

  test('a read is tried again when the only endpoint is overloaded for a moment', async () => {
    let overloaded = true
    const busy = await node((body, response) => {
      response.statusCode = overloaded ? 429 : 200
      overloaded = false
      response.end(echo(body))
    })
    expect(await client([busy.url]).request('eth_blockNumber', [])).toBe('eth_blockNumber')
    expect(busy.bodies).toHaveLength(2)
  })

  test('a node that never gives sense is unavailable after three attempts', async () => {
    const confused = await node((_, response) => response.end('<html>gateway</html>'))
    const error: Error & { cause?: unknown } = await client([confused.url])
      .request<never>('eth_blockNumber', [])
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(NodeUnavailableError)
    expect(error).toMatchObject({ code: -32005, status: 503 })
    expect(error.cause).toBeInstanceOf(Error)
    expect(error.message).not.toContain(confused.url)
    expect(confused.bodies).toHaveLength(3)
  })

  test('a raw transaction is sent once only', async () => {
    const broken = await node((_, response) => response.destroy())
    await expect(
      client([broken.url]).request('eth_sendRawTransaction', ['0x00']),
    ).rejects.toBeInstanceOf(NodeUnavailableError)
    expect(broken.bodies).toHaveLength(1)
  })

  test('a silent node is given up at the deadline', async () => {
    const mute = await node(() => undefined)
    await expect(
      client([mute.url], { deadline: 500 }).request('eth_blockNumber', []),
    ).rejects.toBeInstanceOf(NodeUnavailableError)
    expect(mute.bodies).toHaveLength(3)
  })

  test('an answer beyond the size bound is refused without being kept', async () => {
    const chunk = Buffer.alloc(1024 * 1024, 0x20)
    const endless = await node((_, response) => {
      const write = () => {
        while (!response.destroyed && response.write(chunk)) {}
        if (!response.destroyed) response.once('drain', write)
      }
      write()
    })
    const error: Error & { cause?: unknown } = await client([endless.url])
      .request<never>('eth_sendRawTransaction', ['0x00'])
      .catch((thrown) => thrown)
    expect(error).toBeInstanceOf(NodeUnavailableError)
    expect((error.cause as Error).message).toMatch(/exceeds \d+ bytes/)
  })

  test('close ends a pending request', async () => {
    const mute = await node(() => closing.close())
    const closing = client([mute.url])
    await expect(closing.request('eth_blockNumber', [])).rejects.toBeInstanceOf(
      NodeUnavailableError,
    )
    expect(mute.bodies).toHaveLength(1)
  })
})

describe('batch', () => {
  test('answers in any order settle their own calls, one by one', async () => {
    const { url } = await node((body, response) => {
      const answers = (body as Request[]).map(({ id, method }) =>
        method === 'bad' ? { id, error: { code: -32601, message: 'no' } } : { id, result: method },
      )
      response.end(JSON.stringify(answers.reverse()))
    })
    const settled = await client([url]).batch([
      { method: 'first', params: [] },
      { method: 'bad', params: [] },
      { method: 'last', params: [] },
    ])
    expect(settled.map((item) => (item.ok ? item.result : item.error.code))).toEqual([
      'first',
      -32601,
      'last',
    ])
  })

  const methods = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const calls = methods.map((method) => ({ method, params: [] }))

  test('an answer beyond the size bound is asked for in halves', async () => {
    const { url, bodies } = await node((body, response) => response.end(echo(body)))
    const answers = await client([url], { maxAnswerBytes: 100 }).batch(calls)
    expect(answers).toEqual(methods.map((result) => ({ ok: true, result })))
    expect(bodies.length).toBeGreaterThan(3)
    const { batch } = client([url], { maxAnswerBytes: 10 })
    await expect(batch(calls)).rejects.toBeInstanceOf(NodeUnavailableError)
  })

  test.each([
    [-32003, 'response too large'],
    [-32011, 'The batch response was too large'],
    [-32005, 'MaxBatchResponseBodySize of 32768KB exceeded'],
  ])('so is what a node leaves out: %i %s', async (code, message) => {
    const { url } = await node((body, response) => {
      const requests = [body].flat() as Request[]
      const answers = requests.map(({ id, method }, place) =>
        place < 2 ? { id, result: method } : { id, error: { code, message } },
      )
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
    })
    const answers = await client([url]).batch(calls)
    expect(answers).toEqual(methods.map((result) => ({ ok: true, result })))
  })

  test('a refusal of one call for its size is its answer', async () => {
    const error = { code: -32000, message: 'Log response size exceeded' }
    const { url } = await node((body, response) => {
      const answers = ([body].flat() as Request[]).map(({ id, method }) =>
        method === 'c' ? { id, error } : { id, result: method },
      )
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]))
    })
    const answers = await client([url]).batch(calls)
    expect(answers.map(({ ok }) => ok)).toEqual(methods.map((method) => method !== 'c'))
  })

  test('a long batch is cut into requests of a hundred, and an empty one sends nothing', async () => {
    const { url, bodies } = await node((body, response) => response.end(echo(body)))
    const { batch } = client([url])
    const calls = Array.from({ length: 250 }, (_, i) => ({ method: `m${i}`, params: [] }))
    const settled = await batch(calls)
    expect(settled.map((item) => item.ok && item.result)).toEqual(calls.map((c) => c.method))
    expect(bodies.map((body) => (body as unknown[]).length).sort()).toEqual([100, 100, 50])
    expect(await batch([])).toEqual([])
    expect(bodies).toHaveLength(3)
  })
})

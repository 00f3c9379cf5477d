import { once } from 'node:events'
import { createPublicClient, webSocket } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { type Json, result } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { usePromisedServing } from '../support/service/usePromisedServing.js'
import { until } from '../support/until.js'

/* The same URL over a WebSocket: every method, and news of operations. */

const serving = usePromisedServing(845_302)

const socketUrl = (url = serving.info().standardUrl) => url.replace(/^http/, 'ws')

function paramsOf(op: Operation) {
  return [toInterfaceOperation(op), serving.info().entryPoints['0.6']]
}

/** A socket without a client library. `news` are the results of its notifications. */
async function connect(url = socketUrl()) {
  const socket = new WebSocket(url)
  onTestFinished(() => socket.terminate())
  const news: { subscription: string; result: Json }[] = []
  const waiting = new Map<unknown, (answer: Json) => void>()
  socket.on('message', (data) => {
    const message = JSON.parse(String(data))
    if (message.method === 'eth_subscription') news.push(message.params)
    else waiting.get(Array.isArray(message) ? 'batch' : message.id)?.(message)
  })
  await once(socket, 'open')
  let count = 0
  const call = (method: string, ...params: unknown[]): Promise<Json> => {
    const id = ++count
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  const raw = (text: string, id: unknown): Promise<Json> => {
    socket.send(text)
    return new Promise((resolve) => waiting.set(id, resolve))
  }
  return { socket, news, call, raw }
}

test("viem's webSocket transport serves a bundler client unmodified", async () => {
  const info = serving.info()
  const account = await devAccount(info, 'viem socket')
  const transport = webSocket(socketUrl(), { keepAlive: { interval: 50 } })
  const client = createBundlerClient({ chain: foundry, transport, pollingInterval: 50 })
  const reader = createPublicClient({ chain: foundry, transport })
  expect(await client.getChainId()).toBe(845_302)
  const op = await account.selfPaid()
  const params = paramsOf(op)
  const hash = (await client.request({ method: 'eth_sendUserOperation', params } as never)) as never
  const { success } = await client.waitForUserOperationReceipt({ hash })
  expect(success).toBe(true)
  expect(await reader.getBlockNumber()).toBeGreaterThan(0n)
  const receipt = await client.request({ method: 'eth_sendUserOperationSync', params } as never)
  expect(receipt).toMatchObject({ userOpHash: hash, success: true })
  const rpcClient = await (reader.transport as Json).getRpcClient()
  rpcClient.close()
})

test('a subscription that viem makes gets the news of an operation', async () => {
  const account = await devAccount(serving.info(), 'viem subscription')
  const op = await account.selfPaid()
  const hash = account.hashOf(op)
  const client = createPublicClient({ chain: foundry, transport: webSocket(socketUrl()) })
  const news: Json[] = []
  const { unsubscribe } = await (client.transport as Json).subscribe({
    params: ['userOperation', { userOpHash: hash }],
    onData: (data: Json) => news.push(data.result),
    onError: (error: unknown) => news.push(error),
  })
  await account.send(op)
  await until(async () => news.some(({ isLast }) => isLast))
  expect(news.at(-1)).toMatchObject({ userOpHash: hash, state: 'CONFIRMED', isLast: true })
  await unsubscribe()
  ;(await (client.transport as Json).getRpcClient()).close()
})

test('both dialects, batches, notifications and errors are as over HTTP', async () => {
  const { call, raw } = await connect(socketUrl(serving.info().bundlerUrl))
  const account = await devAccount(serving.info(), 'classic socket')
  const op = await account.selfPaid()
  expect((await call('eth_sendUserOperationSync', ...paramsOf(op))).result.success).toBe('true')
  const chainId = { jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] }
  const silent = { jsonrpc: '2.0', method: 'eth_chainId', params: [] }
  const batch = await raw(JSON.stringify([chainId, silent, { ...chainId, id: 'b' }]), 'batch')
  expect(batch.map(({ id }: Json) => id)).toEqual([7, 'b'])
  expect((await raw('{', null)).error.code).toBe(-32700)
  expect((await call('eth_nothing')).error.code).toBe(-32601)
  expect((await call('eth_subscribe', 'logs', {})).error.code).toBe(-32602)
  expect((await call('eth_subscribe', 'userOperation')).error.code).toBe(-32602)
  expect((await call('eth_subscribe', 'userOperation', {})).error.code).toBe(-32602)
})

describe('eth_subscribe', () => {
  test('over HTTP is refused with what to do', async () => {
    const asked = ['userOperation', { sender: `0x${'11'.repeat(20)}` }]
    const asking = result(serving.info().standardUrl, 'eth_subscribe', asked)
    await expect(asking).rejects.toThrow('-32600 Invalid request: subscriptions need a WebSocket')
  })

  test('of new heads: each header as the node announces it, until it is ended', async () => {
    const { call, news } = await connect()
    const [first, second] = [await connect(), await connect()]
    const id = (await call('eth_subscribe', 'newHeads')).result
    for (const other of [first, second]) await other.call('eth_subscribe', 'newHeads', {})
    await anvilClient(serving.info().rpcUrl).mine({ blocks: 1 })
    await until(async () => [news, first.news, second.news].every(({ length }) => length > 0))
    const [{ subscription, result: header }] = news as [(typeof news)[0]]
    expect(subscription).toBe(id)
    const { result: block } = await call('eth_getBlockByNumber', header.number, false)
    const { transactions, uncles, withdrawals, size, totalDifficulty, ...expected } = block
    expect([transactions, uncles, size].includes(undefined)).toBe(false)
    expect(header).toEqual(expected)
    expect((await call('eth_unsubscribe', id)).result).toBe(true)
    const [heard, others] = [news.length, first.news.length]
    await anvilClient(serving.info().rpcUrl).mine({ blocks: 1 })
    await until(async () => first.news.length > others && second.news.length > others)
    expect(news.length).toBe(heard)
  })

  test('by hash: a promise, then the inclusion, each once', async () => {
    const account = await devAccount(serving.info(), 'hash news')
    const op = await account.selfPaid()
    const userOpHash = account.hashOf(op)
    const { call, news } = await connect()
    const all = (await call('eth_subscribe', 'userOperation', { userOpHash, until: 'final' }))
      .result
    const some = (await call('eth_subscribe', 'userOperation', { userOpHash })).result
    await serving.node.hold()
    await account.send(op)
    const of = (id: string) => news.filter((each) => each.subscription === id)
    await until(async () => of(all).some(({ result: { preconfirmed } }) => preconfirmed))
    expect(of(all).at(-1)?.result).toMatchObject({
      userOpHash,
      state: 'SUBMITTED',
      isLast: false,
      userOperationReceipt: { preconfirmed: true },
    })
    serving.node.release()
    await until(async () => of(some).length > 0 && of(all).length > 1)
    expect(of(some).map((each) => each.result)).toMatchObject([
      { userOpHash, state: 'CONFIRMED', isLast: true, userOperationReceipt: { success: true } },
    ])
    expect(of(all).at(-1)?.result).toMatchObject({ state: 'CONFIRMED', isLast: false })
    expect((await call('eth_unsubscribe', some)).result).toBe(false)
    expect((await call('eth_unsubscribe', all)).result).toBe(true)
    expect((await call('eth_unsubscribe', all)).result).toBe(false)
  })

  test('by sender: its operations from now on, and only to the app that sent them', async () => {
    const account = await devAccount(serving.info(), 'sender news')
    const { address: sender } = account.account
    const { apiKey } = await serving.commands.tenant('stranger')
    const strangerUrl = socketUrl().replace(/[^/]+$/, apiKey)
    const [own, stranger] = [await connect(), await connect(strangerUrl)]
    for (const { call } of [own, stranger])
      expect((await call('eth_subscribe', 'userOperation', { sender })).result).toMatch(/^0x/)
    const hashes: string[] = []
    for (let count = 0; count < 2; count++) {
      hashes.push(await account.send(await account.selfPaid()))
      await until(async () => own.news.filter(({ result: { isLast } }) => isLast).length > count)
    }
    const ended = own.news.map((each) => each.result).filter(({ isLast }) => isLast)
    expect(ended.map(({ userOpHash, state }) => [userOpHash, state])).toEqual(
      hashes.map((hash) => [hash, 'CONFIRMED']),
    )
    // What the stranger would have got came before this answer.
    expect((await stranger.call('eth_chainId')).result).toBe('0xce5f6')
    expect(stranger.news).toEqual([])
  })
})

test.each([
  ['an unknown key', () => socketUrl().replace(/[^/]+$/, 'nobody.key'), 401],
  ['another path', () => socketUrl().replace(/\/api.*/, '/socket'), 404],
])('%s gets no socket', async (_, url, status) => {
  const socket = new WebSocket(url())
  const [, response] = await once(socket, 'unexpected-response')
  expect(response.statusCode).toBe(status)
  socket.on('error', () => undefined)
  socket.terminate()
})

test('a message above the limit ends its socket, and a service that stops says so', async () => {
  const [first, second] = [await connect(), await connect()]
  const tooLarge = once(first.socket, 'close')
  first.socket.send(' '.repeat(1024 * 1024 + 1))
  expect((await tooLarge)[0]).toBe(1009)
  const running = await serving.start()
  const third = await connect()
  const closed = once(third.socket, 'close')
  void second
  await running.end('SIGTERM')
  expect((await closed)[0]).toBe(1001)
  await serving.start()
})

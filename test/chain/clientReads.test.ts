import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ClientReads, createClientReads } from '../../src/chain/clientReads.js'
import type { Head } from '../../src/chain/head.js'
import { type HttpNode, startHttpNode } from '../support/chain/httpNode.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

const SECRET = 'http://node.internal/v2/s3cret'

type Answer = (id: number, response: ServerResponse) => void

let node: HttpNode
let reads: ClientReads
let answer: Answer
let announce: (number: bigint) => void

function headOf(number: bigint): Head {
  return { number, hash: '0x', parentHash: '0x', timestamp: 0, baseFee: 0n }
}

beforeEach(async () => {
  node = await startHttpNode((body, response) => answer((body as { id: number }).id, response))
  reads = createClientReads({
    urls: [node.url],
    logger: silent,
    logRange: 10,
    estimatesGas: false,
    sends: false,
    heads: {
      current: () => headOf(7n),
      onHead: (listener) => {
        announce = (number) => listener({ head: headOf(number), reorgedFrom: undefined })
        return () => undefined
      },
    },
  })
})
afterEach(async () => {
  await reads.close()
  await node.stop()
})

function failing(error: object): Answer {
  return (id, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
}

async function errorOf(reading: Promise<unknown>): Promise<unknown> {
  return reading.then(
    (answered) => Promise.reject(new Error(`answered ${answered}`)),
    (error: unknown) => error,
  )
}

test('what the node says about itself is not passed on', async () => {
  answer = failing({ code: -32000, message: `missing trie node at ${SECRET}`, data: SECRET })
  for (const method of ['eth_getCode', 'eth_call'] as const) {
    const error = await errorOf(reads.read('app', method, []))
    expect(error).toMatchObject({ name: 'ReadRefusedError', code: -32000 })
    const { message, data } = error as { message: string; data: unknown }
    expect(JSON.stringify({ message, data })).not.toContain('s3cret')
  }
})

test('a revert keeps its bytes and nothing else of the node', async () => {
  answer = failing({ code: 3, message: `execution reverted at ${SECRET}`, data: '0x08c379a0' })
  expect(await errorOf(reads.read('app', 'eth_call', []))).toMatchObject({
    code: 3,
    message: 'execution reverted',
    data: { message: 'execution reverted', data: '0x08c379a0' },
  })
})

test('an app that fills its places takes none from others, and all of them together stay bounded', async () => {
  const held: (() => void)[] = []
  let mostHeld = 0
  answer = (id, response) => {
    held.push(() => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' })))
    mostHeld = Math.max(mostHeld, held.length)
  }
  const read = (app: string) => reads.read(app, 'eth_blockNumber', [])
  const many = (app: string, count: number) => Array.from({ length: count }, () => read(app))
  // 16 of them run, 200 wait: a batch of 100 is no reason to refuse.
  const underWay = many('greedy', 216)
  expect(await errorOf(read('greedy'))).toMatchObject({ name: 'ReadsBusyError', code: -32005 })
  for (const app of ['b', 'c', 'd']) underWay.push(...many(app, 16))
  expect(await errorOf(read('e'))).toMatchObject({ data: { underWay: 64 } })

  let served = 0
  const answered = Promise.all(underWay).then((all) => {
    served = all.length
  })
  await until(async () => {
    for (const release of held.splice(0)) release()
    return served === 264
  })
  await answered
  expect(mostHeld).toBeLessThanOrEqual(64)
  answer = (id, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x2' }))
  expect(await read('greedy')).toBe('0x2')
})

test('an answer that is too large is not read to its end', async () => {
  answer = (id, response) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: `0x${'00'.repeat(5_000_000)}` }))
  const error = await errorOf(reads.read('app', 'eth_call', []))
  expect(error).toMatchObject({ name: 'NodeUnavailableError', code: -32005 })
})

test('a read that gets no place in time is refused, and those that hold the places still end', async () => {
  answer = () => undefined
  const read = () => reads.read('app', 'eth_blockNumber', [])
  const running = Array.from({ length: 16 }, read)
  expect(await errorOf(read())).toMatchObject({ name: 'ReadsBusyError' })
  answer = (id, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x3' }))
  expect(new Set(await Promise.all(running))).toEqual(new Set(['0x3']))
  expect(await read()).toBe('0x3')
})

test('heads that come while one is read are passed over, and one that cannot be read is', async () => {
  const held: { id: number; response: ServerResponse }[] = []
  answer = (id, response) => held.push({ id, response })
  const give = ({ id, response }: (typeof held)[0], block: object | null) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: block }))
  const heard: object[] = []
  const also: object[] = []
  announce(1n)
  const stop = reads.onHeader((header) => heard.push(header))
  reads.onHeader((header) => also.push(header))
  for (const number of [2n, 3n, 4n]) announce(number)
  await until(async () => held.length === 1)
  give(held[0]!, { number: '0x2', size: '0x9', transactions: [], uncles: [], withdrawals: [] })
  await until(async () => held.length === 2)
  expect(heard).toEqual([{ number: '0x2' }])
  stop()
  give(held[1]!, null)
  await until(async () => {
    announce(5n)
    return held.length === 3
  })
  give(held[2]!, { number: '0x5' })
  await until(async () => also.length === 2)
  expect(also).toEqual([{ number: '0x2' }, { number: '0x5' }])
  expect(heard).toEqual([{ number: '0x2' }])
})

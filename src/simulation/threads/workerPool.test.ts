import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import { SimulationLostError, TooCostlyError } from '../../base/errors/simulationErrors.js'
import { requesterOf } from '../../../test/support/requesterOf.js'
import type { Requester } from '../../base/requester.js'
import { createWorkerPool, type WorkerPool } from './workerPool.js'

/** What a thread of these tests does with a message: it answers at once unless the message says otherwise. */
const program = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, threadId } from 'node:worker_threads'
    parentPort.on('message', ({ name, act, gate, links }) => {
      if (act === 'exit') process.exit(3)
      if (act === 'throw') return parentPort.postMessage({ failure: 'broke', milliseconds: 1 })
      if (act === 'crash') throw new Error('crashed')
      if (act === 'eat') for (const all = []; ; ) all.push(new Array(1000).fill(Math.random()))
      if (act === 'spin') for (;;);
      if (gate !== undefined) Atomics.wait(new Int32Array(gate), 0, 0)
      parentPort.postMessage({ result: { name, threadId, links }, milliseconds: 10 })
    })`)}`,
)

type Act = 'exit' | 'throw' | 'crash' | 'eat' | 'spin'
type Message = {
  readonly name: string
  readonly act: Act | undefined
  readonly gate: SharedArrayBuffer | undefined
  readonly links: number
}
type Link = { messages: number }
type Result = { readonly name: string; readonly threadId: number; readonly links: number }
type Pool = WorkerPool<Link, Message, Result>

const pools: Pool[] = []
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()))
})

function poolOf(size: number, mostTime = 60_000): Pool {
  const pool = createWorkerPool<Link, Message, Result>({
    program,
    size,
    createLink: () => ({ messages: 0 }),
    memory: 16,
    mostTime,
    logger: pino({ level: 'silent' }),
  })
  pools.push(pool)
  return pool
}

type Asked = {
  readonly act?: Act
  readonly gate?: SharedArrayBuffer
  readonly requester?: Requester
  readonly isLong?: boolean
}

function ask(pool: Pool, name: string, { act, gate, requester, isLong = false }: Asked = {}) {
  const messageFor = (link: Link) => ({ name, act, gate, links: ++link.messages })
  return pool.run({ requester, isLong, messageFor }).then(({ result }) => result)
}

/** A gate at which a thread waits until it is opened. */
function createGate(): { readonly gate: SharedArrayBuffer; readonly open: () => void } {
  const gate = new SharedArrayBuffer(4)
  return {
    gate,
    open() {
      Atomics.store(new Int32Array(gate), 0, 1)
      Atomics.notify(new Int32Array(gate), 0)
    },
  }
}

test('threads are started as they are needed, and each remembers what it was sent', async () => {
  const pool = poolOf(3)
  const one = await ask(pool, 'a')
  expect(await ask(pool, 'b')).toEqual({ name: 'b', threadId: one.threadId, links: 2 })
  const { gate, open } = createGate()
  const waiting = ['c', 'd', 'e'].map((name) => ask(pool, name, { gate }))
  open()
  const ids = (await Promise.all(waiting)).map(({ threadId }) => threadId)
  expect(new Set(ids).size).toBe(3)
})

test.each<[Act, typeof TooCostlyError | typeof SimulationLostError]>([
  ['eat', TooCostlyError],
  ['exit', SimulationLostError],
  ['crash', SimulationLostError],
])('a thread that ends (%s) refuses its own request only, and is replaced', async (act, error) => {
  const pool = poolOf(1)
  const first = await ask(pool, 'before')
  const refused = ask(pool, 'ends', { act })
  const behind = ask(pool, 'behind')
  await expect(refused).rejects.toBeInstanceOf(error)
  const after = await behind
  expect(after.threadId).not.toBe(first.threadId)
  expect(after.links).toBe(1)
})

test('a message that takes too long is broken off', async () => {
  const pool = poolOf(1, 200)
  await expect(ask(pool, 'long', { act: 'spin' })).rejects.toBeInstanceOf(SimulationLostError)
})

test('a message that cannot be sent fails alone', async () => {
  const pool = poolOf(1)
  const first = await ask(pool, 'before')
  const isLong = false
  const unsendable = { requester: undefined, isLong, messageFor: () => (() => {}) as never }
  const failing = pool.run(unsendable)
  const behind = ask(pool, 'behind')
  await expect(failing).rejects.toThrow('could not be cloned')
  expect((await behind).threadId).not.toBe(first.threadId)
})

test('an error inside is no refusal of the operation', async () => {
  const pool = poolOf(1)
  await expect(ask(pool, 'wrong', { act: 'throw' })).rejects.toThrow('broke')
  expect((await ask(pool, 'next')).links).toBe(2)
})

test('closing ends all threads and refuses what is under way, what waits and what comes', async () => {
  const pool = poolOf(2)
  const { gate } = createGate()
  const asked = ['a', 'b', 'c', 'd'].map((name) => ask(pool, name, { gate }))
  const ends = asked.map((answer) => expect(answer).rejects.toBeInstanceOf(SimulationLostError))
  await pool.close()
  await Promise.all(ends)
  await expect(ask(pool, 'late')).rejects.toBeInstanceOf(SimulationLostError)
})

test('parties take turns, and pay for the time that their messages took', async () => {
  const pool = poolOf(1)
  const { gate, open } = createGate()
  const [greedy, modest] = [requesterOf('greedy'), requesterOf('modest')]
  const order: string[] = []
  const note = ({ name }: Result) => order.push(name)
  const first = ask(pool, 'greedy', { gate, requester: greedy }).then(note)
  const others = [
    ...Array.from({ length: 4 }, () => ask(pool, 'greedy', { requester: greedy }).then(note)),
    ask(pool, 'modest', { requester: modest }).then(note),
  ]
  open()
  await Promise.all([first, ...others])
  expect(order.indexOf('modest')).toBeLessThanOrEqual(1)
  expect({ greedy: greedy.spent, modest: modest.spent }).toEqual({ greedy: 50, modest: 10 })
})

test('long messages leave a thread to others', async () => {
  const pool = poolOf(2)
  const { gate, open } = createGate()
  const long = Array.from({ length: 3 }, () => ask(pool, 'long', { gate, isLong: true }))
  expect((await ask(pool, 'short')).name).toBe('short')
  open()
  expect((await Promise.all(long)).map(({ name }) => name)).toEqual(['long', 'long', 'long'])
})

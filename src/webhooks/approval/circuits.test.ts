import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createCircuits } from './circuits.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

function make() {
  const opened: string[] = []
  const closed: string[] = []
  const circuits = createCircuits(
    (result) => result === 'failed',
    (id) => opened.push(id),
    (id) => closed.push(id),
  )
  const run = (result: string, id = 'a') => circuits.run(id, async () => result)
  return { circuits, opened, closed, run }
}

test('five failures in a row open the circuit of that webhook only', async () => {
  const { opened, run } = make()
  for (let count = 0; count < 5; count++) expect(await run('failed')).toBe('failed')
  expect(await run('fine')).toBe('circuit_open')
  expect(await run('fine', 'b')).toBe('fine')
  expect(opened).toEqual(['a'])
})

test('a success in between keeps it closed', async () => {
  const { run } = make()
  for (let count = 0; count < 4; count++) await run('failed')
  await run('fine')
  for (let count = 0; count < 4; count++) await run('failed')
  expect(await run('fine')).toBe('fine')
})

test('half of twenty calls within 30 s open it too', async () => {
  const { opened, run } = make()
  for (let count = 0; count < 40 && opened.length === 0; count++) {
    await run(count % 2 === 0 ? 'fine' : 'failed')
    vi.advanceTimersByTime(500)
  }
  expect(opened).toEqual(['a'])
})

test('after 10 s one probe goes out, nobody else waits for it, and a good one closes', async () => {
  const { circuits, opened, closed, run } = make()
  for (let count = 0; count < 5; count++) await run('failed')
  vi.advanceTimersByTime(9_999)
  expect(await run('fine')).toBe('circuit_open')
  vi.advanceTimersByTime(1)
  let answer = (_: string): void => {}
  const probe = circuits.run('a', () => new Promise<string>((resolve) => (answer = resolve)))
  expect(await run('fine')).toBe('circuit_open')
  answer('failed')
  expect(await probe).toBe('failed')
  expect(opened).toEqual(['a', 'a'])
  expect(closed).toEqual([])
  vi.advanceTimersByTime(10_000)
  expect(await run('fine')).toBe('fine')
  expect(await run('fine')).toBe('fine')
  expect(closed).toEqual(['a'])
})

test('the fifty-first concurrent call is refused until another one ends', async () => {
  const { circuits, run } = make()
  const ends: ((result: string) => void)[] = []
  const held = Array.from({ length: 50 }, () =>
    circuits.run('a', () => new Promise<string>((resolve) => ends.push(resolve))),
  )
  expect(await run('fine')).toBe('overloaded')
  expect(await run('fine', 'b')).toBe('fine')
  for (const end of ends) end('fine')
  expect(new Set(await Promise.all(held))).toEqual(new Set(['fine']))
  expect(await run('fine')).toBe('fine')
})

test('what the call throws is thrown', async () => {
  const { circuits } = make()
  await expect(circuits.run('a', () => Promise.reject(new TypeError('ours')))).rejects.toThrow(
    'ours',
  )
})

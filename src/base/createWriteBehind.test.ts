import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createWriteBehind } from './createWriteBehind.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A list that is written; a write ends when `end` is called, and one that fails leaves all that it had. */
function opened() {
  let gathered: string[] = []
  const written: string[][] = []
  const ends: ((isWritten: boolean) => void)[] = []
  const behind = createWriteBehind({
    delay: 100,
    hasGathered: () => gathered.length > 0,
    async write() {
      const batch = gathered
      gathered = []
      if (batch.length === 0) return
      written.push(batch)
      if (!(await new Promise<boolean>((resolve) => ends.push(resolve)))) gathered.unshift(...batch)
    },
  })
  const add = (item: string) => {
    gathered.push(item)
    behind.schedule()
  }
  const end = (isWritten: boolean) => {
    ends.shift()?.(isWritten)
    return vi.advanceTimersByTimeAsync(0)
  }
  return { add, end, written, stop: behind.stop }
}

test('what comes within the delay is written together, and the next batch waits for it', async () => {
  const { add, end, written } = opened()
  add('a')
  add('b')
  expect(written).toEqual([])
  await vi.advanceTimersByTimeAsync(100)
  add('c')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(written).toEqual([['a', 'b']])
  await end(true)
  await vi.advanceTimersByTimeAsync(100)
  expect(written).toEqual([['a', 'b'], ['c']])
})

test('what could not be written is tried again, until the end', async () => {
  const { add, end, written, stop } = opened()
  add('a')
  await vi.advanceTimersByTimeAsync(100)
  await end(false)
  await vi.advanceTimersByTimeAsync(100)
  expect(written).toEqual([['a'], ['a']])
  const stopping = stop()
  await end(false)
  expect(written).toHaveLength(3)
  await end(false)
  await stopping
  expect(vi.getTimerCount()).toBe(0)
})

test('what comes after the end keeps no process alive', async () => {
  const { add, written, stop } = opened()
  await stop()
  add('late')
  expect(vi.getTimerCount()).toBe(0)
  expect(written).toEqual([])
})

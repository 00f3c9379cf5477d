import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { until } from '../../test/support/until.js'
import { createBatcher } from './createBatcher.js'
import { UnavailableError } from './errors/requestErrors.js'

describe('a batcher', () => {
  afterEach(() => void vi.useRealTimers())

  test('commits what comes in a turn of the event loop together, and what comes meanwhile, in order', async () => {
    const batches: number[][] = []
    const gates: (() => void)[] = []
    const add = createBatcher<number, string>(async (items) => {
      batches.push([...items])
      await new Promise<void>((resolve) => gates.push(resolve))
      return items.map(String)
    }, 3)
    const results = [1, 2].map((item) => add(item))
    await until(async () => gates.length > 0)
    results.push(...[3, 4, 5, 6].map((item) => add(item)))
    for (const next of [0, 1, 2]) {
      await until(async () => gates.length > next)
      gates[next]!()
    }
    expect(await Promise.all(results)).toEqual(['1', '2', '3', '4', '5', '6'])
    expect(batches).toEqual([[1, 2], [3, 4, 5], [6]])
  })

  test('pauses after a commit of a few, so that more share the next, and not after one alone or many', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const batches: number[][] = []
    const add = createBatcher<number, number>(async (items) => {
      batches.push([...items])
      return items
    }, 9)
    const turns = async () => {
      for (const _ of Array.from({ length: 5 })) await setImmediate()
    }

    await Promise.all([add(1), add(2)])
    const third = add(3)
    await turns()
    await vi.advanceTimersByTimeAsync(14)
    await turns()
    expect(batches).toEqual([[1, 2]])
    const fourth = add(4)
    await vi.advanceTimersByTimeAsync(1)
    await Promise.all([third, fourth])
    await vi.advanceTimersByTimeAsync(15)
    await add(5)
    await add(6)
    await Promise.all([7, 8, 9, 10, 11, 12, 13, 14].map(add))
    await add(15)
    expect(batches.slice(1).map(({ length }) => length)).toEqual([2, 1, 1, 8, 1])
  })

  test('does not pause while as many wait as fit into a commit', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const batches: number[][] = []
    const add = createBatcher<number, number>(async (items) => {
      batches.push([...items])
      return items
    }, 2)
    await Promise.all([1, 2, 3, 4].map(add))
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ])
  })

  test('lets one that cannot be committed fail alone, and settles every item exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean()),
        fc.integer({ min: 1, max: 5 }),
        async (bad, most) => {
          let committed: number[] = []
          const add = createBatcher<number, number>(async (items) => {
            await Promise.resolve()
            if (items.some((item) => bad[item])) throw new Error('cannot be committed')
            committed = [...committed, ...items]
            return items
          }, most)
          const settled = await Promise.allSettled(bad.map((_, item) => add(item)))
          expect(settled.map(({ status }) => status === 'rejected')).toEqual(bad)
          expect(committed).toEqual(bad.flatMap((isBad, item) => (isBad ? [] : [item])))
        },
      ),
    )
  })

  test('tells all when the database is away, without asking again for each', async () => {
    let commits = 0
    const add = createBatcher<number, number>(async () => {
      commits += 1
      throw new UnavailableError('The database is not available.')
    }, 10)
    const settled = await Promise.allSettled([1, 2, 3, 4].map((item) => add(item)))
    expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
    expect(commits).toBe(1)
  })
})

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { until } from '../../test/support/until.js'
import { createBatcher } from './createBatcher.js'
import { UnavailableError } from './errors/requestErrors.js'

describe('a batcher', () => {
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

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { smallestLimit, smallestLimitLater } from './smallestLimit.js'

const gas = fc.bigInt({ min: 0n, max: 20_000_000n })

test('finds a limit that does, close to the smallest, wherever it and the guess lie', () =>
  fc.assert(
    fc.property(
      fc.uniqueArray(gas, { minLength: 3, maxLength: 3 }),
      gas,
      fc.bigInt({ min: 1n, max: 10_000n }),
      (points, guess, tolerance) => {
        const [floor, smallest, ceiling] = points.sort((a, b) => (a < b ? -1 : 1)) as [
          bigint,
          bigint,
          bigint,
        ]
        let trials = 0
        const found = smallestLimit({ floor, ceiling, guess, tolerance }, (limit) => {
          trials++
          expect(limit > floor && limit < ceiling).toBe(true)
          return limit >= smallest
        })
        expect(found >= smallest && found - smallest <= tolerance).toBe(true)
        expect(trials).toBeLessThan(60)
      },
    ),
  ))

test('takes two trials when the guess is the smallest or just below it', async () => {
  for (const guess of [1000n, 995n]) {
    const tried: bigint[] = []
    const search = { floor: 0n, ceiling: 1_000_000n, guess, tolerance: 10n }
    const found = await smallestLimitLater(search, async (limit) => {
      tried.push(limit)
      return limit >= 1000n
    })
    expect(found - 1000n).toBeLessThanOrEqual(10n)
    expect(tried).toHaveLength(2)
  }
})

test('tries nothing when the bounds are close enough', async () => {
  const search = { floor: 90n, ceiling: 100n, guess: 95n, tolerance: 10n }
  await expect(smallestLimitLater(search, () => Promise.reject(new Error('tried')))).resolves.toBe(
    100n,
  )
})

test("the client's own limit is the answer when it suffices and the search would end above it", () =>
  fc.assert(
    fc.property(gas, fc.integer({ min: -50, max: 200 }), gas, (least, apart, guess) => {
      const [smallest, own] = [least + 1_000n, least + 1_000n + BigInt(apart)]
      const search = { floor: 0n, ceiling: 30_000_000n, guess, tolerance: 100n }
      const suffices = (limit: bigint) => limit >= smallest
      const without = smallestLimit(search, suffices)
      const expected = own >= smallest && own < without ? own : without
      expect(smallestLimit({ ...search, own }, suffices)).toBe(expected)
    }),
  ))

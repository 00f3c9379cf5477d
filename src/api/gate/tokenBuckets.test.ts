import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTokenBuckets } from './tokenBuckets.js'

test('no run of takes gets more than the burst and what came back meanwhile', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 100 }),
      fc.array(fc.record({ pause: fc.nat(2_000), cost: fc.integer({ min: 1, max: 20 }) })),
      (perSecond, burst, steps) => {
        const buckets = createTokenBuckets({ perSecond, burst })
        let now = 1_000_000
        const begin = now
        let granted = 0
        for (const { pause, cost } of steps) {
          now += pause
          if (buckets.take('a', cost, now) === 0) granted += Math.min(cost, burst)
        }
        expect(granted).toBeLessThanOrEqual(burst + ((now - begin) / 1_000) * perSecond + 1e-6)
      },
    ),
  )
})

test('a refusal takes nothing and says when to come again', () => {
  const buckets = createTokenBuckets({ perSecond: 2, burst: 4 })
  expect(buckets.take('a', 4, 0)).toBe(0)
  expect(buckets.take('a', 3, 0)).toBe(1.5)
  expect(buckets.take('a', 3, 1_000)).toBe(0.5)
  expect(buckets.take('a', 3, 1_500)).toBe(0)
})

test('names have buckets of their own, and 0 is no limit', () => {
  const buckets = createTokenBuckets({ perSecond: 1, burst: 1 })
  expect(buckets.take('a', 1, 0)).toBe(0)
  expect(buckets.take('a', 1, 0)).toBeGreaterThan(0)
  expect(buckets.take('b', 1, 0)).toBe(0)
  expect(buckets.wait('a', 0)).toBe(1)
  const free = createTokenBuckets({ perSecond: 0, burst: 0 })
  expect([free.take('a', 1_000, 0), free.wait('a', 0)]).toEqual([0, 0])
})

test('a clock that is set back gives nothing', () => {
  const buckets = createTokenBuckets({ perSecond: 1, burst: 2 })
  expect(buckets.take('a', 2, 10_000)).toBe(0)
  expect(buckets.take('a', 1, 5_000)).toBe(1)
})

test('the bucket used longest ago is forgotten when there are too many', () => {
  const buckets = createTokenBuckets({ perSecond: 1, burst: 1 }, 2)
  for (const name of ['a', 'b', 'c']) expect(buckets.take(name, 1, 0)).toBe(0)
  expect(buckets.take('c', 1, 0)).toBe(1)
  expect(buckets.take('a', 1, 0)).toBe(0)
})

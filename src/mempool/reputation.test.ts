import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { opsAllowed, statusOf } from './reputation.js'

const reputation = fc
  .record({ opsSeen: fc.nat(20_000), opsIncluded: fc.nat(20_000) })
  .filter(({ opsSeen, opsIncluded }) => opsIncluded <= opsSeen)

describe('the status of an entity', () => {
  test.each([
    [0, 0, 'ok'],
    [109, 0, 'ok'],
    [110, 0, 'throttled'],
    [509, 0, 'throttled'],
    [510, 0, 'banned'],
    [1_000, 90, 'ok'],
    [1_000, 89, 'throttled'],
    [1_000, 49, 'banned'],
    [10_000, 0, 'banned'],
  ])('that was seen %i times and included %i times is %s', (opsSeen, opsIncluded, status) => {
    expect(statusOf({ opsSeen, opsIncluded }, 0)).toBe(status)
  })

  test('is not hurt by operations that only wait', () => {
    fc.assert(
      fc.property(reputation, fc.nat(1_000), ({ opsSeen, opsIncluded }, waiting) => {
        const now = { opsSeen: opsSeen + waiting, opsIncluded }
        expect(statusOf(now, waiting)).toBe(statusOf({ opsSeen, opsIncluded }, 0))
      }),
    )
  })

  test('never gets worse by an inclusion nor better by what was only seen', () => {
    const order = ['ok', 'throttled', 'banned']
    fc.assert(
      fc.property(reputation, ({ opsSeen, opsIncluded }) => {
        const rank = (seen: number, included: number) =>
          order.indexOf(statusOf({ opsSeen: seen, opsIncluded: included }, 0))
        const now = rank(opsSeen, opsIncluded)
        expect(rank(opsSeen, opsIncluded + 1)).toBeLessThanOrEqual(now)
        expect(rank(opsSeen + 10, opsIncluded)).toBeGreaterThanOrEqual(now)
      }),
    )
  })
})

test('an unstaked paymaster may have 10 operations, and more as they are included', () => {
  expect(opsAllowed({ opsSeen: 0, opsIncluded: 0 })).toBe(10)
  expect(opsAllowed({ opsSeen: 100, opsIncluded: 50 })).toBe(35)
  fc.assert(
    fc.property(reputation, (given) => {
      const allowed = opsAllowed(given)
      expect(allowed).toBeGreaterThanOrEqual(10)
      expect(allowed).toBeLessThanOrEqual(10 + Math.min(given.opsIncluded, 10_000))
    }),
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { awake, type Rest, restAfter } from './restAfter.js'

function failTimes(times: number, chance: number): Rest {
  let rest = awake
  for (let i = 0; i < times; i++) rest = restAfter(rest, rest.until, chance)
  return rest
}

test('rests double from a second to a minute', () => {
  let rest = awake
  const pauses = Array.from({ length: 9 }, () => {
    const before = rest.until
    rest = restAfter(rest, before, 0.5)
    return rest.until - before
  })
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000))
})

test('a rest is never shorter than half its length nor longer than one and a half', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.nat(2_000), chance, (failures, chance) => {
      const rest = failTimes(failures, 0.5)
      const pause = restAfter(rest, rest.until, chance).until - rest.until
      const full = Math.min(60_000, 1_000 * 2 ** failures)
      expect(pause).toBeGreaterThanOrEqual(full / 2)
      expect(pause).toBeLessThanOrEqual(full * 1.5)
    }),
  )
})

test('many failures at once are one: what fails during a rest makes it no longer', () => {
  const rest = restAfter(awake, 5_000, 0.5)
  expect(restAfter(rest, 5_001, 0.9)).toBe(rest)
})

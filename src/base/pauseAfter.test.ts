import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Pause, pauseAfter, unpaused } from './pauseAfter.js'

function failTimes(times: number, chance: number): Pause {
  let pause = unpaused
  for (let i = 0; i < times; i++) pause = pauseAfter(pause, pause.until, chance)
  return pause
}

test('pauses double from a second to a minute', () => {
  let pause = unpaused
  const pauses = Array.from({ length: 9 }, () => {
    const before = pause.until
    pause = pauseAfter(pause, before, 0.5)
    return pause.until - before
  })
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60].map((seconds) => seconds * 1_000))
})

test('a pause is never shorter than half its length nor longer than one and a half', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true })
  fc.assert(
    fc.property(fc.nat(2_000), chance, (failures, chance) => {
      const before = failTimes(failures, 0.5)
      const pause = pauseAfter(before, before.until, chance).until - before.until
      const full = Math.min(60_000, 1_000 * 2 ** failures)
      expect(pause).toBeGreaterThanOrEqual(full / 2)
      expect(pause).toBeLessThanOrEqual(full * 1.5)
    }),
  )
})

test('many failures at once are one: what fails during a pause makes it no longer', () => {
  const pause = pauseAfter(unpaused, 5_000, 0.5)
  expect(pauseAfter(pause, 5_001, 0.9)).toBe(pause)
})

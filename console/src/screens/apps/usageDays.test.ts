import { expect, test } from 'vitest'
import { usageDays } from './usageDays.js'

test('the use of a new key is one bar of 30, at the right', () => {
  const days = usageDays(new Date('2026-03-01T10:00:00Z'), [
    { day: '2026-03-01', requests: 7, refused: 1 },
    { day: '2026-02-27', requests: 2, refused: 0 },
  ])
  expect(days).toHaveLength(30)
  expect(days[0]).toEqual({ day: '2026-01-31', requests: 0, refused: 0 })
  expect(days.slice(-3)).toEqual([
    { day: '2026-02-27', requests: 2, refused: 0 },
    { day: '2026-02-28', requests: 0, refused: 0 },
    { day: '2026-03-01', requests: 7, refused: 1 },
  ])
})

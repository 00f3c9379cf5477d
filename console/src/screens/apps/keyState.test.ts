import { expect, test } from 'vitest'
import { countdownOf, keyStateOf } from './keyState.js'

const now = Date.parse('2026-11-23T12:00:00Z')
const key = { id: 'a', revokedAt: null, expiresAt: null }

test('a key lives, has ended, or counts down to its end', () => {
  expect(keyStateOf(key, [], now)).toEqual({ kind: 'live' })
  expect(keyStateOf({ ...key, revokedAt: '2026-11-23T11:00:00Z' }, [], now).kind).toBe('ended')
  const expiresAt = '2026-11-23T12:01:00Z'
  const successor = [{ rotatedFrom: 'a' }]
  const ending = { kind: 'ending', left: 60_000, isRotated: true }
  expect(keyStateOf({ ...key, expiresAt }, successor, now)).toEqual(ending)
  expect(keyStateOf({ ...key, expiresAt }, [], now)).toMatchObject({ isRotated: false })
  expect(keyStateOf({ ...key, expiresAt }, successor, now + 60_000).kind).toBe('ended')
})

test.each([
  [183_600_000, '2 d 3 h'],
  [86_399_000, '23 h 59 min'],
  [249_000, '4 min 09 s'],
  [-5, '0 min 00 s'],
])('%i ms are counted down as %s', (milliseconds, text) => {
  expect(countdownOf(milliseconds)).toBe(text)
})

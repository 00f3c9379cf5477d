import { expect, test } from 'vitest'
import { checkRound, checkSequencer, type Round } from './round.js'

const now = 1_790_000_000
const one = 10n ** 18n
const feed = {
  address: '0x00000000000000000000000000000000000000f1',
  heartbeat: 3_600,
  min: one / 2n,
  max: 2n * one,
} as const
const round: Round = {
  roundId: 7n,
  answer: 100_000_000n,
  startedAt: BigInt(now - 10),
  updatedAt: BigInt(now - 10),
  answeredInRound: 7n,
}

test('a fresh round is worth its answer in 18 decimals', () => {
  expect(checkRound(round, 8, feed, now)).toEqual({ price: one, updatedAt: now - 10 })
})

test('a round is good until its heartbeat has passed, not a second longer', () => {
  const aged = (age: number) => ({ ...round, updatedAt: BigInt(now - age) })
  expect(checkRound(aged(3_600), 8, feed, now).price).toBe(one)
  expect(checkRound(aged(3_601), 8, feed, now).reason).toContain('3601 s old')
})

test.each([
  ['a negative answer', { answer: -1n }, 'answers -1'],
  ['an answer of nothing', { answer: 0n }, 'answers 0'],
  ['an answer below the minimum', { answer: 49_999_999n }, 'outside of its bounds'],
  ['an answer above the maximum', { answer: 200_000_001n }, 'outside of its bounds'],
  ['a round that has not ended', { updatedAt: 0n }, 'round without answer'],
  ['an answer carried over from an older round', { answeredInRound: 6n }, 'round without answer'],
])('refuses %s', (_, change, reason) => {
  const checked = checkRound({ ...round, ...change }, 8, feed, now)
  expect(checked.price).toBeUndefined()
  expect(checked.reason).toContain(reason)
})

test('refuses a feed with more decimals than can be scaled', () => {
  expect(checkRound(round, 37, feed, now).reason).toContain('37 decimals')
})

test('an answer that is nothing in 18 decimals is refused', () => {
  const { address, heartbeat } = feed
  const unbounded = { address, heartbeat, min: undefined, max: undefined }
  expect(checkRound({ ...round, answer: 1n }, 30, unbounded, now).reason).toContain('answers 1')
})

const sequencer = {
  address: '0x00000000000000000000000000000000000000f2',
  gracePeriod: 900,
} as const

test('prices are believed when the sequencer has worked for its grace period', () => {
  const up = { ...round, answer: 0n, startedAt: BigInt(now - 900) }
  expect(checkSequencer(up, sequencer, now)).toBeUndefined()
  const early = { ...up, startedAt: BigInt(now - 899) }
  expect(checkSequencer(early, sequencer, now)).toContain('less than 900 s')
  expect(checkSequencer({ ...up, startedAt: 0n }, sequencer, now)).toContain('less than 900 s')
})

test('no price is believed while the sequencer is down', () => {
  const down = { ...round, answer: 1n, startedAt: BigInt(now - 9_000) }
  expect(checkSequencer(down, sequencer, now)).toContain('is down')
})

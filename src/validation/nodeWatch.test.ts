import fc from 'fast-check'
import { bytesToHex } from 'viem'
import { expect, test } from 'vitest'
import { isSampled } from './nodeWatch.js'

const encoded = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => bytesToHex(bytes))
const share = fc.double({ min: 0, max: 1, noNaN: true })

test('a share of 0 takes none, one of 1 takes all', () => {
  fc.assert(
    fc.property(encoded, (op) => {
      expect(isSampled(op, 0)).toBe(false)
      expect(isSampled(op, 1)).toBe(true)
    }),
  )
})

test('what a share takes every larger share takes too', () => {
  fc.assert(
    fc.property(encoded, share, share, (op, one, other) => {
      const [small, large] = [Math.min(one, other), Math.max(one, other)]
      if (isSampled(op, small)) expect(isSampled(op, large)).toBe(true)
    }),
  )
})

test('a share of one in a hundred takes about that many', () => {
  const taken = Array.from({ length: 20_000 }, (_, at) => `0x${at.toString(16).padStart(8, '0')}`)
  const count = taken.filter((op) => isSampled(op as `0x${string}`, 0.01)).length
  expect(count).toBeGreaterThan(150)
  expect(count).toBeLessThan(250)
})

import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { createDoubts } from './createDoubts.js'

const entryPoint: Address = `0x${'e0'.repeat(20)}`
function codesOf(...hashes: readonly Hex[]): Map<Address, Hex> {
  const accounts = hashes.map((hash): [Address, Hex] => [
    `0x${hash.slice(2).padStart(40, '0')}`,
    hash,
  ])
  return new Map([[entryPoint, '0xee'], ...accounts])
}

test('code is compared once, and not doubted before', () => {
  const doubts = createDoubts(() => 0)
  expect(doubts.isDue(codesOf('0x01'))).toBe(true)
  expect(doubts.isDoubted(codesOf('0x01'))).toBe(false)
  doubts.agrees(codesOf('0x01'))
  expect(doubts.isDue(codesOf('0x01'))).toBe(false)
})

test('a difference raises doubt about the code that was not seen to agree', () => {
  const doubts = createDoubts(() => 0)
  doubts.agrees(codesOf('0x01'))
  doubts.differs(entryPoint, codesOf('0x01', '0x02'))
  expect(doubts.isDoubted(codesOf('0x02'))).toBe(true)
  expect(doubts.isDoubted(codesOf('0x01'))).toBe(false)
  expect(doubts.isDoubted(codesOf('0x03'))).toBe(false)
})

test('a difference in code that agreed before raises doubt about all but the EntryPoint', () => {
  const doubts = createDoubts(() => 0)
  doubts.agrees(codesOf('0x01', '0x02'))
  doubts.differs(entryPoint, codesOf('0x01', '0x02'))
  expect(doubts.isDoubted(codesOf('0x01'))).toBe(true)
  expect(doubts.isDoubted(codesOf('0x02'))).toBe(true)
  expect(doubts.isDoubted(codesOf())).toBe(false)
})

test('doubted code is compared again after ten minutes, and believed when it agrees', () => {
  let now = 0
  const doubts = createDoubts(() => now)
  doubts.differs(entryPoint, codesOf('0x01'))
  expect(doubts.isDue(codesOf('0x01'))).toBe(false)
  now = 600_000
  expect(doubts.isDue(codesOf('0x01'))).toBe(true)
  expect(doubts.isDoubted(codesOf('0x01'))).toBe(true)
  doubts.agrees(codesOf('0x01'))
  expect(doubts.isDoubted(codesOf('0x01'))).toBe(false)
})

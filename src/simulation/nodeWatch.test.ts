import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { createQuarantine } from './nodeWatch.js'

const entryPoint: Address = `0x${'e0'.repeat(20)}`
function codesOf(...hashes: readonly Hex[]): Map<Address, Hex> {
  const accounts = hashes.map((hash): [Address, Hex] => [
    `0x${hash.slice(2).padStart(40, '0')}`,
    hash,
  ])
  return new Map([[entryPoint, '0xee'], ...accounts])
}

test('code is compared once, and in no quarantine before', () => {
  const quarantine = createQuarantine(() => 0)
  expect(quarantine.isDue(codesOf('0x01'))).toBe(true)
  expect(quarantine.isQuarantined(codesOf('0x01'))).toBe(false)
  quarantine.agrees(codesOf('0x01'))
  expect(quarantine.isDue(codesOf('0x01'))).toBe(false)
})

test('a difference brings the code into quarantine that was not seen to agree', () => {
  const quarantine = createQuarantine(() => 0)
  quarantine.agrees(codesOf('0x01'))
  quarantine.differs(entryPoint, codesOf('0x01', '0x02'))
  expect(quarantine.isQuarantined(codesOf('0x02'))).toBe(true)
  expect(quarantine.isQuarantined(codesOf('0x01'))).toBe(false)
  expect(quarantine.isQuarantined(codesOf('0x03'))).toBe(false)
})

test('a difference in code that agreed before brings all into quarantine but the EntryPoint', () => {
  const quarantine = createQuarantine(() => 0)
  quarantine.agrees(codesOf('0x01', '0x02'))
  quarantine.differs(entryPoint, codesOf('0x01', '0x02'))
  expect(quarantine.isQuarantined(codesOf('0x01'))).toBe(true)
  expect(quarantine.isQuarantined(codesOf('0x02'))).toBe(true)
  expect(quarantine.isQuarantined(codesOf())).toBe(false)
})

test('code in quarantine is compared again after ten minutes, and believed when it agrees', () => {
  let now = 0
  const quarantine = createQuarantine(() => now)
  quarantine.differs(entryPoint, codesOf('0x01'))
  expect(quarantine.isDue(codesOf('0x01'))).toBe(false)
  now = 600_000
  expect(quarantine.isDue(codesOf('0x01'))).toBe(true)
  expect(quarantine.isQuarantined(codesOf('0x01'))).toBe(true)
  quarantine.agrees(codesOf('0x01'))
  expect(quarantine.isQuarantined(codesOf('0x01'))).toBe(false)
})

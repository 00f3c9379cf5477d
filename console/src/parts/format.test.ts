import { describe, expect, test } from 'vitest'
import {
  bytesOf,
  changeOf,
  etherOf,
  grouped,
  localTextOf,
  momentOf,
  percentOf,
  plainly,
  shortOf,
  spanOf,
  tickOf,
  tidyOf,
  usdText,
} from './format.js'

describe('amounts', () => {
  test.each([
    ['0', '0'],
    ['1', '0.000000000000000001'],
    ['41234567890123', '0.0000412345'],
    ['1204000000000000000', '1.204'],
    ['12345678900000000000', '12.3456'],
    ['12000000000000000000', '12'],
    ['1234567890000000000000000', '1,234,567'],
  ])('%s wei are %s ether', (wei, ether) => {
    expect(etherOf(wei)).toBe(ether)
  })
  test('groups of three', () => {
    expect(grouped(1234567n)).toBe('1,234,567')
    expect(grouped('128')).toBe('128')
  })
  test('a share of nothing is nothing', () => {
    expect(percentOf(1n, 0n)).toBe(0)
    expect(percentOf(521n, 700n)).toBe(74.4)
  })
})

describe('times and names', () => {
  test.each([
    [0, '0 ms'],
    [240, '240 ms'],
    [3_149, '3.1 s'],
    [59_999, '59 s'],
    [61_000, '1 min'],
    [7_200_000, '2 h'],
    [200_000_000, '2 d'],
  ])('%i ms are %s', (milliseconds, text) => {
    expect(spanOf(milliseconds)).toBe(text)
  })
  test('an address keeps its ends', () => {
    expect(shortOf(`0x1234${'0'.repeat(32)}abcd`)).toBe('0x1234…abcd')
    expect(shortOf('0x12')).toBe('0x12')
  })
})

test.each([
  ['0', '0 B'],
  ['812', '812 B'],
  ['40960', '40 kB'],
  ['1248000', '1.2 MB'],
])('%s bytes are %s', (count, text) => {
  expect(bytesOf(count)).toBe(text)
})

test('times in a sentence are those of this machine', () => {
  const time = '2026-11-23T11:50:27.000Z'
  expect(plainly(`until ${time}, then`)).toBe(`until ${momentOf(time)}, then`)
})

test('amounts of wei in a sentence are grouped, other numbers are not', () => {
  expect(plainly('up to 297635174739946 wei until 2026-11-23, valid until 1795421154')).toBe(
    'up to 297,635,174,739,946 wei until 2026-11-23, valid until 1795421154',
  )
})

test('moments and ticks are of the machine, and of 24 hours', () => {
  const time = new Date(2026, 10, 3, 8, 1, 5)
  expect(momentOf(time.getTime())).toBe('2026-11-03 08:01:05')
  expect(tickOf(time, false)).toBe('08:01')
  expect(tickOf(time, true)).toBe('11-03 08:01')
})

test('a time in a field has the offset of its own day, not of today', () => {
  const before = process.env.TZ
  process.env.TZ = 'Europe/Berlin'
  try {
    expect(localTextOf('2027-07-01T08:00:30.000Z')).toBe('2027-07-01T10:00')
    expect(localTextOf(Date.UTC(2027, 0, 1, 9))).toBe('2027-01-01T10:00')
  } finally {
    process.env.TZ = before
  }
})

test('a time that no calendar has is none', () => {
  expect([null, undefined, 0xffff_ffff_ffff * 1_000].map(localTextOf)).toEqual(['', '', ''])
})

describe('amounts that line up', () => {
  test.each([
    ['0', '0'],
    ['280543210000000', '0.000281'],
    ['260475000000000', '0.000260'],
    ['500000000000000000', '0.500'],
    ['1204000000000000000', '1.20'],
    ['12345678900000000000', '12.3'],
    ['1234567890000000000000000', '1,234,568'],
    ['1', '0.000000000000000001'],
  ])('%s wei are %s', (wei, text) => {
    expect(tidyOf(wei)).toBe(text)
  })
  test('in USD, and against the period before', () => {
    expect([0, 0.001, 3.2, 1_204.4].map(usdText)).toEqual(['$0.00', '< $0.01', '$3.20', '$1,204'])
    expect([changeOf(3, 2), changeOf(1, 2), changeOf(1, 0)]).toEqual([
      '+50 % to before',
      '−50 % to before',
      '',
    ])
  })
})

import { describe, expect, test } from 'vitest'
import type { Spend } from '../../api/shapes.js'
import {
  byWorth,
  changeBetween,
  groupsOf,
  monthsUntil,
  spanBefore,
  spanOfMonth,
  unitOf,
  wasteOf,
} from './spending.js'

const iso = ({ from, until }: { from: Date; until: Date }) => [
  from.toISOString().slice(0, 10),
  until.toISOString().slice(0, 10),
]

test('a month has all of its days, over the end of a year too', () => {
  expect(iso(spanOfMonth('2026-12'))).toEqual(['2026-12-01', '2027-01-01'])
  expect(monthsUntil(new Date('2027-01-31T23:00:00Z'), 3)).toEqual([
    '2027-01',
    '2026-12',
    '2026-11',
  ])
})

test('a month is compared with the month before, one under way with as many days of it', () => {
  const october = spanOfMonth('2026-10')
  expect(iso(spanBefore(october, new Date('2026-11-24T06:00:00Z')))).toEqual([
    '2026-09-01',
    '2026-10-01',
  ])
  expect(iso(spanBefore(october, new Date('2026-10-03T06:00:00Z')))).toEqual([
    '2026-09-01',
    '2026-09-04',
  ])
  // February has fewer days than are over in March.
  const march = spanOfMonth('2027-03')
  expect(iso(spanBefore(march, new Date('2027-03-31T06:00:00Z')))).toEqual([
    '2027-02-01',
    '2027-03-01',
  ])
})

test('lines are put together by app, policy, chain or day', () => {
  const line = (appId: string, policyId: string | null, day: string): Spend => ({
    day,
    appId,
    appName: appId,
    chainId: 1,
    policyId,
    policyName: policyId,
    operations: '1',
    wei: '5',
    wastedWei: appId === 'b' ? '0' : '2',
    measured: appId === 'b' ? '0' : '1',
  })
  const lines = [
    line('a', 'p', '2026-11-01'),
    line('b', null, '2026-11-01'),
    line('a', null, '2026-11-02'),
  ]
  const sizes = (grouping: 'app' | 'policy' | 'day') =>
    [...groupsOf(lines, grouping)].map(([key, group]) => [key, group.length])
  expect(sizes('app')).toEqual([
    ['a', 2],
    ['b', 1],
  ])
  expect(sizes('policy')).toEqual([
    ['p', 1],
    ['', 2],
  ])
  expect(sizes('day')).toEqual([
    ['2026-11-01', 2],
    ['2026-11-02', 1],
  ])
  expect(wasteOf(lines)).toEqual({
    costs: [
      { chainId: 1, wei: '2' },
      { chainId: 1, wei: '2' },
    ],
    measured: 2,
    operations: 3,
  })
})

describe('costs in USD and in coins', () => {
  const ether = (amount: number, usd?: number) => [{ coin: 'Ξ', wei: String(amount * 1e18), usd }]
  const pol = (amount: number, usd?: number) => [{ coin: 'POL', wei: String(amount * 1e18), usd }]

  test('are added in USD where each has a price, otherwise in their one coin', () => {
    expect(unitOf([...ether(1, 3_000), ...pol(2, 1)])).toBe('USD')
    expect(unitOf([...ether(1, 3_000), ...ether(0.01)])).toBe('Ξ')
    expect(unitOf(pol(2))).toBe('POL')
    expect(unitOf([...ether(1), ...pol(2)])).toBeUndefined()
    expect(unitOf([...ether(1, 3_000), ...pol(2)])).toBeUndefined()
  })

  test('are compared with those before in one unit, or not at all', () => {
    expect(changeBetween(ether(2, 12), pol(9, 8))).toBe('+50 % to before')
    expect(changeBetween(pol(3), pol(2))).toBe('+50 % to before')
    // One side has a price, the other none, in one coin and in two.
    expect(changeBetween(ether(0.01), ether(0.02, 8))).toBe('−50 % to before')
    expect(changeBetween(pol(0.01), ether(0.02, 8))).toBe('')
    expect(changeBetween([...ether(1), ...pol(1)], [...ether(1), ...pol(1)])).toBe('')
    expect(changeBetween(ether(1), [])).toBe('')
  })

  test('are sorted by USD, and those without a price come last', () => {
    const mixed = [...ether(1, 20), ...pol(7)]
    const sorted = [pol(1), ether(0.01), pol(2), ether(1, 10), mixed, ether(2, 5_000)]
    expect(sorted.sort(byWorth)).toEqual([
      ether(2, 5_000),
      mixed,
      ether(1, 10),
      pol(2),
      pol(1),
      ether(0.01),
    ])
  })
})

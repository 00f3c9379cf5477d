import { expect, test } from 'vitest'
import type { Spend } from '../../api/shapes.js'
import { groupsOf, monthsUntil, spanBefore, spanOfMonth, wasteOf } from './spending.js'

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

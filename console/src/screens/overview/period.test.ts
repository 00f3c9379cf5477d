import { describe, expect, test } from 'vitest'
import { changed, partOf, periodOf } from './period.js'

const search = (text: string) => new URLSearchParams(text)
const now = Date.parse('2026-11-23T10:20:30.500Z')

describe('the period of an address', () => {
  test('is the last hour where it says nothing, and ends with a whole bar', () => {
    expect(periodOf(search(''), now)).toEqual({
      from: new Date('2026-11-23T09:21:00Z'),
      until: new Date('2026-11-23T10:21:00Z'),
      step: 60,
    })
    expect(periodOf(search(''), now + 29_000)).toEqual(periodOf(search(''), now))
  })

  test('is the one between two times, in about sixty bars', () => {
    const period = periodOf(search('from=2026-11-23T08:00:00Z&until=2026-11-23T10:00:00Z'), now)
    expect(period).toMatchObject({ step: 120, from: new Date('2026-11-23T08:00:00Z') })
  })

  test.each([
    'from=nonsense&until=2026-11-23T10:00:00Z',
    'from=2026-11-23T10:00:00Z&until=2026-11-23T08:00:00Z',
    'from=2020-01-01T00:00:00Z&until=2026-01-01T00:00:00Z',
  ])('is the last hour where the times make no sense: %s', (text) => {
    expect(periodOf(search(text), now).step).toBe(60)
  })
})

test('a part is at least a minute long, in whichever direction it was drawn', () => {
  const period = periodOf(search('from=2026-11-23T08:00:00Z&until=2026-11-23T10:00:00Z'), now)
  const part = { from: new Date('2026-11-23T08:30:00Z'), until: new Date('2026-11-23T09:00:00Z') }
  expect(partOf(period, 0.25, 0.5)).toEqual(part)
  expect(partOf(period, 0.5, 0.25)).toEqual(part)
  const { from, until } = partOf(period, 0.5, 0.5)
  expect(until.getTime() - from.getTime()).toBe(60_000)
})

test('a period moves by its length and grows around its middle', () => {
  const period = periodOf(search('from=2026-11-23T08:00:00Z&until=2026-11-23T10:00:00Z'), now)
  expect(changed(period, { by: -1 }).from).toEqual(new Date('2026-11-23T06:00:00Z'))
  expect(changed(period, { times: 2 })).toEqual({
    from: new Date('2026-11-23T07:00:00Z'),
    until: new Date('2026-11-23T11:00:00Z'),
  })
})

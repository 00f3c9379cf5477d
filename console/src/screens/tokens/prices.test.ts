import { expect, test } from 'vitest'
import type { Token } from '../../api/shapes.js'
import { groupedDecimal, markupOf, oldestOf } from './prices.js'

const source: Omit<Token['sources'][number], 'price' | 'updatedAt'> = {
  kind: 'feeds',
  names: [],
  reason: null,
  heartbeat: 3_600,
}

test('the age of a price is that of its oldest feed that counts, else of the look', () => {
  const readAt = '2026-11-23T05:00:00.000Z'
  const older = { ...source, price: '3000', updatedAt: '2026-11-23T04:10:00.000Z' }
  const newer = { ...source, price: '3001', updatedAt: '2026-11-23T04:50:00.000Z' }
  const stale = { ...source, price: null, reason: 'old', updatedAt: '2026-11-20T00:00:00.000Z' }
  expect(oldestOf({ readAt, sources: [newer, stale, older] })).toBe(older.updatedAt)
  expect(oldestOf({ readAt, sources: [{ ...source, price: '1', updatedAt: null }] })).toBe(readAt)
  expect(oldestOf({ readAt: null, sources: [] })).toBeUndefined()
})

test('markups and prices are as people write them', () => {
  expect(markupOf(1_050_000)).toBe('+5 %')
  expect(markupOf(995_000)).toBe('−0.5 %')
  expect(markupOf(1_000_000)).toBe('none')
  expect(groupedDecimal('1234567.890100', 4)).toBe('1,234,567.8901')
  expect(groupedDecimal('3000', 6)).toBe('3,000')
})

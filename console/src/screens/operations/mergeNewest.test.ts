import { expect, test } from 'vitest'
import { mergeNewest } from './mergeNewest.js'

type Row = { readonly id: string; readonly state: string }
const row = (id: string, state = 'pooled'): Row => ({ id, state })
const keyOf = ({ id }: Row) => id

test('new rows stand above, known ones are renewed where they are', () => {
  const before = { rows: [row('b'), row('a')], waiting: [] }
  const merged = mergeNewest(before, [row('c'), row('b', 'included')], keyOf, false)
  expect(merged.rows).toEqual([row('c'), row('b', 'included'), row('a')])
  expect(merged.waiting).toEqual([])
})

test('while somebody reads, new rows wait, each once, and what is read is renewed', () => {
  const before = { rows: [row('a')], waiting: [row('b')] }
  const merged = mergeNewest(before, [row('c'), row('b'), row('a', 'dropped')], keyOf, true)
  expect(merged.rows).toEqual([row('a', 'dropped')])
  expect(merged.waiting).toEqual([row('c'), row('b')])
})

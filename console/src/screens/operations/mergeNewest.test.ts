import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mergeNewest, type Part, renewed } from './mergeNewest.js'

type Row = { readonly id: string; readonly state: string }
const row = (id: string, state = 'pooled'): Row => ({ id, state })
const keyOf = ({ id }: Row) => id
const part = (rows: readonly Row[], next?: string): Part<Row> => ({ rows, next })
const merged = (known: Part<Row>, items: readonly Row[], next?: string, most = 10) =>
  mergeNewest(known, { items, next }, keyOf, most)

test('new rows stand above, known ones are renewed, those below stay', () => {
  const known = part([row('b'), row('a')], 'a')
  expect(merged(known, [row('c'), row('b', 'included')], 'b')).toEqual(
    part([row('c'), row('b', 'included'), row('a')], 'a'),
  )
})

test('a whole answer is the list: what left it is gone', () => {
  expect(merged(part([row('a')]), [])).toEqual(part([]))
  expect(merged(part([row('c'), row('b'), row('a')], 'a'), [row('b')])).toEqual(part([row('b')]))
})

test('a page whose last row is not known begins the list anew, so that no row between is missing', () => {
  expect(merged(part([row('b'), row('a')], 'a'), [row('f'), row('e')], 'e')).toEqual(
    part([row('f'), row('e')], 'e'),
  )
})

test('a page without rows that has another below it says nothing of what is known', () => {
  const known = part([row('a')], 'a')
  expect(merged(known, [], 'z')).toBe(known)
})

test('no more rows are held than the screen shows, and none is asked for below them', () => {
  const known = part([row('b'), row('a')], 'a')
  expect(merged(known, [row('c'), row('b')], 'b', 2)).toEqual(part([row('c'), row('b')]))
})

test('what is read is renewed in its place', () => {
  expect(renewed([row('b'), row('a')], [row('c'), row('a', 'dropped')], keyOf)).toEqual([
    row('b'),
    row('a', 'dropped'),
  ])
})

test('after any changes the list begins with the newest page, and no row of it is missing or twice', () => {
  const PAGE = 3
  const change = fc.record({ added: fc.nat(5), gone: fc.array(fc.nat(20), { maxLength: 4 }) })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      let served: readonly number[] = []
      let newest = 0
      let known = part([])
      for (const { added, gone } of changes) {
        served = [
          ...Array.from({ length: added }, (_, at) => newest + added - at),
          ...served.filter((_, at) => !gone.includes(at)),
        ]
        newest += added
        const items = served.slice(0, PAGE).map((id) => row(String(id)))
        known = merged(known, items, served.length > PAGE ? items.at(-1)?.id : undefined, 1_000)
        const ids = known.rows.map(({ id }) => Number(id))
        expect(ids.slice(0, items.length)).toEqual(served.slice(0, PAGE))
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a))
        const least = ids.at(-1) ?? 0
        for (const id of served) if (id >= least) expect(ids).toContain(id)
      }
    }),
  )
})

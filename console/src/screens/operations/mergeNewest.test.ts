import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addOlder, firstRows, MOST, mergeNewest, type Rows, waitingRows } from './mergeNewest.js'

type Row = { readonly id: string; readonly state: string }
const row = (id: string, state = 'pooled'): Row => ({ id, state })
const keyOf = ({ id }: Row) => id
const shownOf = ({ shown }: Rows<Row>) => shown
const rowsOf = (count: number, name: string) =>
  Array.from({ length: count }, (_, at) => row(`${name}${at}`))

test('new rows stand above, known ones are renewed where they are, older ones stay', () => {
  const before = addOlder(firstRows({ items: [row('b')], next: 'b' }), { items: [row('a')] })
  const page = { items: [row('c'), row('b', 'included')], next: 'b' }
  expect(shownOf(mergeNewest(before, page, keyOf, false))).toEqual({
    rows: [row('c'), row('b', 'included'), row('a')],
    next: undefined,
  })
})

test('rows that left are gone, also while somebody reads', () => {
  const before = firstRows({ items: [row('d'), row('c'), row('b')], next: 'b' })
  const page = { items: [row('d'), row('b')], next: 'b' }
  for (const isReading of [true, false])
    expect(shownOf(mergeNewest(before, page, keyOf, isReading)).rows).toEqual(page.items)
  for (const isReading of [true, false])
    expect(shownOf(mergeNewest(before, { items: [] }, keyOf, isReading)).rows).toEqual([])
})

test('while somebody reads, new rows wait, and what is read is renewed', () => {
  const before = firstRows({ items: [row('a')] })
  const first = mergeNewest(before, { items: [row('b'), row('a')] }, keyOf, true)
  const page = { items: [row('c'), row('b'), row('a', 'dropped')] }
  const merged = mergeNewest(first, page, keyOf, true)
  expect(merged.shown.rows).toEqual([row('a', 'dropped')])
  expect(waitingRows(merged, keyOf)).toEqual([row('c'), row('b')])
  expect(merged.latest.rows).toEqual(page.items)
})

test('after more rows than a page holds, the list begins anew; what is read stays until then', () => {
  const before = firstRows({ items: [row('b'), row('a')], next: 'a' })
  const page = { items: [row('h'), row('g')], next: 'g' }
  expect(shownOf(mergeNewest(before, page, keyOf, false))).toEqual({ rows: page.items, next: 'g' })
  const reading = mergeNewest(before, page, keyOf, true)
  expect(reading.shown).toEqual({ rows: before.shown.rows, next: 'a' })
  const older = addOlder(reading, { items: [row('0')], next: '0' })
  expect(older.shown.rows.map(keyOf)).toEqual(['b', 'a', '0'])
  expect(older.latest).toEqual({ rows: page.items, next: 'g' })
})

test('a page that found nothing in what it looked at takes nothing away', () => {
  const before = firstRows({ items: [row('b')], next: 'b' })
  expect(mergeNewest(before, { items: [], next: 'z' }, keyOf, false)).toEqual(before)
})

test('a list that is left open does not grow for ever', () => {
  const page = { items: rowsOf(50, 'old'), next: 'old49' }
  const full = addOlder(firstRows(page), { items: rowsOf(MOST - 50, 'older'), next: 'older' })
  expect(shownOf(mergeNewest(full, page, keyOf, false)).rows).toHaveLength(MOST)
  const newer = { items: [row('new'), ...page.items.slice(0, 49)], next: 'old48' }
  const renewed = mergeNewest(full, newer, keyOf, false)
  expect(renewed.shown).toEqual({ rows: newer.items, next: 'old48' })
})

/** A list of the service: each row has a number, and newer ones a higher one. */
type Service = { readonly list: readonly number[]; readonly newest: number }
const LIMIT = 4

function pageOf(list: readonly number[], before = Number.POSITIVE_INFINITY) {
  const rest = list.filter((each) => each < before)
  const items = rest.slice(0, LIMIT)
  return { items, next: rest.length > LIMIT ? String(items.at(-1)) : undefined }
}

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant('arrive' as const), count: fc.integer({ min: 1, max: 7 }) }),
    fc.record({ kind: fc.constant('leave' as const), at: fc.nat(12) }),
    fc.record({ kind: fc.constant('look' as const), isReading: fc.boolean() }),
    fc.record({ kind: fc.constant('older' as const) }),
  ),
  { maxLength: 30 },
)

function changed({ list, newest }: Service, count: number): Service {
  const added = Array.from({ length: count }, (_, at) => newest + count - at)
  return { list: [...added, ...list], newest: newest + count }
}

/** What is shown and all that follows it is what a full read gives, from the first row that is shown. */
function expectComplete({ rows, next }: Rows<number>['shown'], { list }: Service, from: number) {
  const isThere = new Set(list)
  const follow = next === undefined ? [] : list.filter((each) => each < Number(next))
  const all = [...rows.filter((each) => isThere.has(each)), ...follow]
  expect(all).toEqual(list.filter((each) => each <= from))
}

test('merging skips no row and repeats none, whatever comes and goes between the answers', () => {
  fc.assert(
    fc.property(fc.nat(12), steps, (count, taken) => {
      let service = changed({ list: [], newest: 0 }, count)
      let merged = firstRows(pageOf(service.list))
      for (const step of taken) {
        if (step.kind === 'arrive') service = changed(service, step.count)
        if (step.kind === 'leave')
          service = { ...service, list: service.list.filter((_, at) => at !== step.at) }
        if (step.kind === 'older' && merged.shown.next !== undefined)
          merged = addOlder(merged, pageOf(service.list, Number(merged.shown.next)))
        if (step.kind !== 'look') continue
        const page = pageOf(service.list)
        const read = merged.shown.rows.filter((each) => service.list.includes(each))
        merged = mergeNewest(merged, page, String, step.isReading)
        expect(merged.latest.rows.slice(0, page.items.length)).toEqual(page.items)
        if (page.next === undefined) expect(merged.latest.rows).toEqual(service.list)
        expectComplete(merged.latest, service, service.newest)
        const [first] = merged.shown.rows
        if (first !== undefined) expectComplete(merged.shown, service, first)
        if (step.isReading) expect(merged.shown.rows).toEqual(expect.arrayContaining(read))
      }
    }),
    { numRuns: 300 },
  )
})

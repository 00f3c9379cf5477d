import type { Page } from '../../api/shapes.js'

/** Rows without a gap, and the cursor of those that follow; undefined = none do. */
export type Part<Row> = { readonly rows: readonly Row[]; readonly next: string | undefined }

export type Rows<Row> = {
  readonly shown: Part<Row>
  /** What would be shown if nobody read. */
  readonly latest: Part<Row>
  /** Whether there may be rows between `latest` and `shown` that nobody asked for. */
  readonly isCut: boolean
}

/** More rows are not held: filters help more than scrolling. */
export const MOST = 500

/** The first page of a list, and nothing else. */
export function firstRows<Row>({ items, next }: Page<Row>): Rows<Row> {
  const shown = { rows: items, next }
  return { shown, latest: shown, isCut: false }
}

/**
 * What is shown, with the newest page: its rows take the place of those down to its oldest one. While somebody reads,
 * new rows wait.
 */
export function mergeNewest<Row>(
  before: Rows<Row>,
  page: Page<Row>,
  keyOf: (row: Row) => string,
  isReading: boolean,
): Rows<Row> {
  const merged = mergePage(before.latest, page, keyOf)
  const latest = merged ?? { rows: page.items, next: page.next }
  if (!isReading) return { shown: latest, latest, isCut: false }
  const isCut = page.next !== undefined && (before.isCut || merged === undefined)
  if (isCut) {
    const fresh = new Map(page.items.map((row) => [keyOf(row), row]))
    const rows = before.shown.rows.map((row) => fresh.get(keyOf(row)) ?? row)
    return { shown: { rows, next: before.shown.next }, latest, isCut }
  }
  const read = new Set(before.shown.rows.map(keyOf))
  const first = latest.rows.findIndex((row) => read.has(keyOf(row)))
  const rows = first === -1 ? [] : latest.rows.slice(first)
  return { shown: { rows, next: latest.next }, latest, isCut }
}

/** Undefined = what is known does not follow on the page, or is too much to hold. */
function mergePage<Row>(
  known: Part<Row>,
  { items, next }: Page<Row>,
  keyOf: (row: Row) => string,
): Part<Row> | undefined {
  if (next === undefined) return { rows: items, next }
  const oldest = items.at(-1)
  // It looked at rows that are none of the list, and says nothing of older ones.
  if (oldest === undefined) return known
  const at = known.rows.findIndex((row) => keyOf(row) === keyOf(oldest))
  const rows = [...items, ...known.rows.slice(at + 1)]
  return at === -1 || rows.length > MOST ? undefined : { rows, next: known.next }
}

/** What is shown, with the page that follows it. */
export function addOlder<Row>(before: Rows<Row>, { items, next }: Page<Row>): Rows<Row> {
  const add = ({ rows }: Part<Row>) => ({ rows: [...rows, ...items], next })
  return {
    ...before,
    shown: add(before.shown),
    latest: before.isCut ? before.latest : add(before.latest),
  }
}

/** The rows that wait. */
export function waitingRows<Row>(
  { shown, latest }: Rows<Row>,
  keyOf: (row: Row) => string,
): readonly Row[] {
  const keys = new Set(shown.rows.map(keyOf))
  return latest.rows.filter((row) => !keys.has(keyOf(row)))
}

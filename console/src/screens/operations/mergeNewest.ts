/** The newest rows of a list. */
export type Part<Row> = {
  readonly rows: readonly Row[]
  /** The cursor of the page below them; undefined = there is none, or the screen holds no more. */
  readonly next: string | undefined
}

/** The page of a list that was asked for last. */
type Newest<Row> = { readonly items: readonly Row[]; readonly next?: string | undefined }

/**
 * A list with its newest page: that page stands above the known rows below its last one, and rows that left the list are
 * gone. Where its last row is not known, rows between could be missing, so the list begins anew with the page.
 */
export function mergeNewest<Row>(
  known: Part<Row>,
  { items, next }: Newest<Row>,
  keyOf: (row: Row) => string,
  most: number,
): Part<Row> {
  if (next === undefined) return { rows: items, next }
  const last = items.at(-1)
  // The service looks at a bounded number of rows for a page.
  if (last === undefined) return known
  const at = known.rows.findIndex((row) => keyOf(row) === keyOf(last))
  if (at < 0) return { rows: items, next }
  const rows = [...items, ...known.rows.slice(at + 1)]
  return rows.length > most
    ? { rows: rows.slice(0, most), next: undefined }
    : { rows, next: known.next }
}

/** Rows in their places, renewed where the page has them: for somebody who reads them. */
export function renewed<Row>(
  rows: readonly Row[],
  items: readonly Row[],
  keyOf: (row: Row) => string,
): readonly Row[] {
  const fresh = new Map(items.map((row) => [keyOf(row), row]))
  return rows.map((row) => fresh.get(keyOf(row)) ?? row)
}

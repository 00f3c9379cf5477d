export type Rows<Row> = { readonly rows: readonly Row[]; readonly waiting: readonly Row[] }

/**
 * What is shown, with the newest page: rows that are there already are renewed in their place, new ones stand above,
 * or wait while somebody reads.
 */
export function mergeNewest<Row>(
  { rows, waiting }: Rows<Row>,
  newest: readonly Row[],
  keyOf: (row: Row) => string,
  isReading: boolean,
): Rows<Row> {
  const fresh = new Map(newest.map((row) => [keyOf(row), row]))
  const renewed = rows.map((row) => fresh.get(keyOf(row)) ?? row)
  const shown = new Set(rows.map(keyOf))
  const added = newest.filter((row) => !shown.has(keyOf(row)))
  const addedKeys = new Set(added.map(keyOf))
  const above = [...added, ...waiting.filter((row) => !addedKeys.has(keyOf(row)))]
  return isReading
    ? { rows: renewed, waiting: above }
    : { rows: [...above, ...renewed], waiting: [] }
}

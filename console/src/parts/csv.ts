/** A cell of a table for spreadsheets, which would run text that begins with such a sign as a formula. */
function cellOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe
}

type Rows = readonly Readonly<Record<string, unknown>>[]

/** Rows as comma-separated values (RFC 4180): a column for each name, those of the first row. */
export function csvOf(rows: Rows, names = namesOf(rows), hasHead = true): string {
  const lines = rows.map((row) => names.map((name) => cellOf(row[name])))
  return [...(hasHead ? [names] : []), ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

export function namesOf(rows: Rows): readonly string[] {
  return Object.keys(rows[0] ?? {})
}

/** Rows as JSON, one a line. */
export function ndjsonOf(rows: Rows): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

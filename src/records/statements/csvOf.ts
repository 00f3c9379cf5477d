/** A cell of a table for spreadsheets, which would run text that begins with such a sign as a formula. */
function cellOf(value: string | number | null): string {
  const text = String(value ?? '')
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe
}

/** Rows as comma-separated values (RFC 4180): a column for each member of the first one. */
export function csvOf(rows: readonly Readonly<Record<string, string | number | null>>[]): string {
  const names = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => names.map((name) => cellOf(row[name] ?? null)))
  return [names, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

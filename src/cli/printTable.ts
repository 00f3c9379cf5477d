function text(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return JSON.stringify(value)
  return value === null || value === undefined ? '-' : String(value)
}

/** Rows with their column names, aligned, for people and for `awk`. */
export function printTable(rows: readonly object[]): void {
  const [first] = rows
  if (first === undefined) {
    console.log('none')
    return
  }
  const names = Object.keys(first)
  const lines = [names, ...rows.map((row) => Object.values(row).map(text))]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  for (const line of lines) {
    console.log(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
  }
}

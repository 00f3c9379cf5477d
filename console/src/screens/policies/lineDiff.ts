/** A line of a text before or after a change, or of both. */
export type Line = { readonly kind: 'same' | 'gone' | 'new'; readonly text: string }

/** The lines of two texts in one order, by their longest common sequence. */
export function lineDiff(before: string, after: string): readonly Line[] {
  const [a, b] = [before.split('\n'), after.split('\n')]
  const lengths = Array.from({ length: a.length + 1 }, () =>
    new Array<number>(b.length + 1).fill(0),
  )
  const lengthAt = (i: number, j: number) => lengths[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i]
      if (row === undefined) continue
      row[j] =
        a[i] === b[j]
          ? lengthAt(i + 1, j + 1) + 1
          : Math.max(lengthAt(i + 1, j), lengthAt(i, j + 1))
    }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '' })
      i += 1
      j += 1
    } else if (j >= b.length || (i < a.length && lengthAt(i + 1, j) >= lengthAt(i, j + 1))) {
      lines.push({ kind: 'gone', text: a[i] ?? '' })
      i += 1
    } else {
      lines.push({ kind: 'new', text: b[j] ?? '' })
      j += 1
    }
  }
  return lines
}

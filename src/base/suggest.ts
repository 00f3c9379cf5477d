const LONGEST_NAME = 40

/** Slips that a name may have to be a mistyped one. */
const MOST_SLIPS = 2

/** The known name that a text most likely means; undefined = none is near. */
export function nearestOf(text: string, known: readonly string[]): string | undefined {
  // Anyone may send it, of any length.
  if (text.length > LONGEST_NAME) return undefined
  const near = known
    .map((name) => ({ name, slips: distanceOf(name.toLowerCase(), text.toLowerCase()) }))
    .filter(({ slips }) => slips <= MOST_SLIPS)
    .sort((a, b) => a.slips - b.slips)
  // `url` for `webhookUrl`: the known name ends with it.
  const longer = known.filter(
    (name) => text.length >= 3 && name.toLowerCase().endsWith(text.toLowerCase()),
  )
  return near[0]?.name ?? (longer.length === 1 ? longer[0] : undefined)
}

/** `: did you mean "rpcUrls"?`; empty where no name is near. */
export function suggest(text: string, known: readonly string[]): string {
  const near = nearestOf(text, known)
  return near === undefined ? '' : `: did you mean "${near}"?`
}

/** The number of letters to add, drop or change (Levenshtein); more than any for names that are too long to be a slip. */
function distanceOf(one: string, other: string): number {
  if (other.length > LONGEST_NAME || one.length > LONGEST_NAME) return LONGEST_NAME
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1]
    for (let to = 1; to <= other.length; to++) {
      const changed = (row[to - 1] ?? 0) + (other[to - 1] === letter ? 0 : 1)
      next.push(Math.min(changed, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

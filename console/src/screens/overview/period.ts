/** Spans that are offered, with the seconds of their bars. */
export const spans = [
  { name: '1 h', seconds: 3_600, step: 60 },
  { name: '6 h', seconds: 21_600, step: 300 },
  { name: '24 h', seconds: 86_400, step: 900 },
  { name: '7 d', seconds: 604_800, step: 7_200 },
  { name: '30 d', seconds: 2_592_000, step: 21_600 },
] as const

/** The time that is looked at, and the seconds of one bar. */
export type Period = { readonly from: Date; readonly until: Date; readonly step: number }

/** Bars of a period that was chosen by drawing over a chart. */
const BARS = 60
const SHORTEST = 60_000
const LONGEST = 31 * 86_400_000

/**
 * The period that an address asks for: between two times, or the last so much of the time until `now`. That one ends
 * with a whole bar, so that it stays the same question for as long as a bar.
 */
export function periodOf(search: URLSearchParams, now: number): Period {
  const from = Date.parse(search.get('from') ?? '')
  const until = Date.parse(search.get('until') ?? '')
  if (until - from >= SHORTEST && until - from <= LONGEST) {
    const step = Math.max(1, Math.ceil((until - from) / 1_000 / BARS))
    return { from: new Date(from), until: new Date(until), step }
  }
  const { seconds, step } = spans.find(({ name }) => name === search.get('last')) ?? spans[0]
  const end = Math.ceil(now / 1_000 / step) * step * 1_000
  return { from: new Date(end - seconds * 1_000), until: new Date(end), step }
}

/** The part of a period between two shares of its width, at least a minute of it. */
export function partOf(
  { from, until }: Period,
  a: number,
  b: number,
): Pick<Period, 'from' | 'until'> {
  const width = until.getTime() - from.getTime()
  const [first, last] = a < b ? [a, b] : [b, a]
  const start = Math.floor(from.getTime() + first * width)
  return {
    from: new Date(start),
    until: new Date(Math.max(start + SHORTEST, Math.ceil(from.getTime() + last * width))),
  }
}

/** The period moved by so many of its lengths, or made so many times as long around its middle. */
export function changed(
  { from, until }: Period,
  { by = 0, times = 1 },
): Pick<Period, 'from' | 'until'> {
  const width = until.getTime() - from.getTime()
  const middle = from.getTime() + width / 2 + by * width
  const half = Math.min(LONGEST, width * times) / 2
  return { from: new Date(Math.round(middle - half)), until: new Date(Math.round(middle + half)) }
}

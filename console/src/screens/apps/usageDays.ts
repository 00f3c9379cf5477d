import type { KeyUsage } from '../../api/shapes.js'

type Day = KeyUsage['items'][number]

/** Days that the use of a key is drawn for. */
const DAYS = 30

/** The use of each of the last days (UTC), the oldest first: also of those without a request, which the API leaves out. */
export function usageDays(end: Date, items: readonly Day[]): readonly Day[] {
  const byDay = new Map(items.map((each) => [each.day, each]))
  return Array.from({ length: DAYS }, (_, at) => {
    const day = new Date(end.getTime() - (DAYS - 1 - at) * 86_400_000).toISOString().slice(0, 10)
    return byDay.get(day) ?? { day, requests: 0, refused: 0 }
  })
}

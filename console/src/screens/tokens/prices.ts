import type { Token } from '../../api/shapes.js'
import { decimalOf } from '../../parts/amounts.js'
import { grouped } from '../../parts/format.js'

/** The time of the oldest figure behind the price: when a feed was updated, else when the sources were asked. */
export function oldestOf({
  sources,
  readAt,
}: Pick<Token, 'sources' | 'readAt'>): string | undefined {
  const counted = sources.filter(({ price }) => price !== null)
  const [oldest] = counted.flatMap(({ updatedAt }) => updatedAt ?? []).sort()
  return oldest ?? readAt ?? undefined
}

/** What a markup adds to the cost: `+5 %`. */
export function markupOf(millionths: number): string {
  const percent = (millionths - 1_000_000) / 10_000
  return percent === 0 ? 'none' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
}

/** What the account's apps took, in whole tokens. */
export function takenOf({ taken, decimals }: Pick<Token, 'taken' | 'decimals'>): string {
  return taken.payments === 0 && taken.collected === '0'
    ? '–'
    : groupedDecimal(decimalOf(taken.collected, decimals), 4)
}

/** A decimal number with groups before the point and at most `digits` behind it. */
export function groupedDecimal(value: string, digits: number): string {
  const [whole = '0', fraction = ''] = value.split('.')
  const shown = fraction.slice(0, digits).replace(/0+$/, '')
  return shown === '' ? grouped(whole) : `${grouped(whole)}.${shown}`
}

import type { Token } from '../../api/shapes.js'
import { groupedDecimal } from './prices.js'

/** Digits behind the point of a price; the whole of it is its title. */
const DIGITS = 4

/** Whole tokens for one native coin, or that there is no price. */
export function Price({ token: { price, symbol } }: { readonly token: Token }) {
  if (price === null) return <span class="tag bad">no price</span>
  return (
    <span class="amount" title={`${price} ${symbol} for one native coin`}>
      1 <abbr title="native coin">Ξ</abbr> = {groupedDecimal(price, DIGITS)}
    </span>
  )
}

/** How many of the sources count, and whether that is enough. */
export function Trust({ token: { sources, price } }: { readonly token: Token }) {
  const counted = sources.filter((each) => each.price !== null).length
  const isWhole = price !== null && counted === sources.length
  return (
    <span class={isWhole ? 'muted' : price === null ? 'tag bad' : 'tag doubt'}>
      {isWhole ? 'all count' : `${counted} of ${sources.length} count`}
    </span>
  )
}

import { coinOf, usdOf } from '../api/names.js'
import { grouped, tidyOf, usdText } from './format.js'

type AmountProps = {
  readonly wei: string
  /** Its coin, and USD where a price is configured. */
  readonly chainId: number
  /** It may cost less. */
  readonly isMost?: boolean
}

/** Wei as an amount of the chain's coin and in USD; the exact wei are its title. */
export function Amount({ wei, chainId, isMost = false }: AmountProps) {
  const usd = usdOf(BigInt(wei), chainId)
  const coin = coinOf(chainId)
  return (
    <span class="amount" title={`${isMost ? 'at most ' : ''}${grouped(wei)} wei`}>
      {isMost && '≤ '}
      {tidyOf(wei)} {coin === 'Ξ' ? <abbr title="ether">Ξ</abbr> : coin}
      {usd !== undefined && wei !== '0' && <span class="usd">{usdText(usd)}</span>}
    </span>
  )
}

import type { PricedDefinition } from '../../chain/definition/tokenDefinition.js'
import type { NativePrice } from '../policy/price.js'
import type { Prices } from './createPrices.js'

/**
 * The USD price of the coin by the sources of `usd`, else the one that the operator fixed; undefined = there is
 * neither. Sources that are too old, too few or disagree give none (D-964): they stop budgets in USD unless a price is
 * fixed. Never throws.
 */
export function createUsdPrice(
  prices: Pick<Prices, 'look'>,
  usd: PricedDefinition | undefined,
  fixed: () => Promise<NativePrice | undefined>,
): () => Promise<NativePrice | undefined> {
  if (usd === undefined) return fixed
  return async () => {
    const look = await prices.look(usd).catch(() => undefined)
    const microUsd = look?.rate.units
    return look === undefined || microUsd === undefined ? fixed() : { microUsd, asOf: look.at }
  }
}

import { createRecent } from '../base/createRecent.js'
import type { TokenDefinition } from '../chain/definition/tokenDefinition.js'
import type { PriceLook, Prices } from './createPrices.js'

/** A token that gas can be paid with, and the last look at its price; undefined = the node did not answer. */
export type TokenPrice = { readonly token: TokenDefinition; readonly look: PriceLook | undefined }

/** Milliseconds for which a list stands, also where a configured `priceMaxAge` is shorter. */
const LIST_AGE = 2_000

/** A reader of all tokens of a chain with their prices, for callers whose number nobody bounds. */
export function createTokenPrices(
  prices: Pick<Prices, 'look'>,
  tokens: readonly TokenDefinition[],
): () => Promise<readonly TokenPrice[]> {
  const recent = createRecent<readonly TokenPrice[]>(LIST_AGE)
  const look = async (token: TokenDefinition): Promise<TokenPrice> => ({
    token,
    look: await prices.look(token).catch(() => undefined),
  })
  return () => recent('all', () => Promise.all(tokens.map(look)))
}

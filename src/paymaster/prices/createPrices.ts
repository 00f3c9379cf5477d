import type { Address } from 'viem'
import { createRecent } from '../../base/createRecent.js'
import { TokenPriceError } from '../../base/errors/sponsorshipErrors.js'
import type { OutboundClient } from '../../base/outbound/guardedRequest.js'
import type {
  PricedDefinition,
  PriceSourceDefinition,
  SequencerDefinition,
  TokenDefinition,
} from '../../chain/definition/tokenDefinition.js'
import { USD_ADDRESS } from '../../chain/definition/tokenDefinition.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { agree } from './agree.js'
import { perNativeByFeeds, readDecimals, sequencerTrouble } from './feeds.js'
import { perNativeByHttp } from './httpPrice.js'
import { rateOf } from './perNative.js'
import type { PriceOrReason } from './round.js'

type PricesContext = {
  readonly node: NodeClient
  readonly client: OutboundClient
  readonly sequencer: SequencerDefinition | undefined
  /** The seconds for which a price is used again before the sources are asked anew. */
  readonly maxAge: number
  /** The time in Unix seconds by which the age of feeds is measured. */
  readonly now: () => number
}

/** The prices of a chain's tokens. */
export type Prices = {
  /**
   * The smallest token units per 10^18 wei, at most `maxAge` seconds old. Throws TokenPriceError
   * when the sources give no price that can be relied on; an older price never takes its place.
   */
  rate(token: PricedDefinition): Promise<bigint>
  /**
   * The look at the sources that `rate` goes by, also a look that found no price: it is not repeated within `maxAge`
   * seconds. Throws errors of the node.
   */
  look(token: PricedDefinition): Promise<PriceLook>
}

/** The answers of a token's sources at one time, and what follows from them. */
type PriceLook = {
  /** Unix seconds */
  readonly at: number
  /** Smallest token units per 10^18 wei, or the reason why there is no price. */
  readonly rate: RateOrReason
  /** In the order of the token's sources; empty where they were not asked. */
  readonly sources: readonly PriceOrReason[]
}

type RateOrReason =
  | { readonly units: bigint; readonly reason?: undefined }
  | { readonly units?: undefined; readonly reason: string }

type Known = { readonly until: number; readonly look: Promise<PriceLook>; isGood: boolean }

/** Makes the prices of a chain's tokens, from the sources that each token names. */
export function createPrices({ node, client, sequencer, maxAge, now }: PricesContext): Prices {
  const known = new Map<Address, Known>()
  // USD have no contract.
  const checked = new Set<Address>([USD_ADDRESS])

  const ask = (source: PriceSourceDefinition): Promise<PriceOrReason> | PriceOrReason => {
    if (source.kind === 'fixed') return { price: source.perNative }
    if (source.kind === 'http') return perNativeByHttp(client, source)
    return perNativeByFeeds(node, source, now())
  }

  /** An amount in other decimals than the contract's would be wrong by powers of ten. */
  const decimalsTrouble = async ({ address, decimals }: PricedDefinition) => {
    if (checked.has(address)) return undefined
    const actual = await readDecimals(node, address)
    if (actual !== decimals)
      return `its contract has ${actual ?? 'no'} decimals, ${decimals} are configured`
    checked.add(address)
    return undefined
  }

  const find = async (token: PricedDefinition): Promise<PriceLook> => {
    const at = now()
    const wrong = await decimalsTrouble(token)
    if (wrong !== undefined) return { at, rate: { reason: wrong }, sources: [] }
    const usesFeeds = token.sources.some(({ kind }) => kind === 'feeds')
    const [trouble, ...sources] = await Promise.all([
      sequencer && usesFeeds ? sequencerTrouble(node, sequencer, at) : undefined,
      ...token.sources.map(ask),
    ])
    const { price, reason } = trouble === undefined ? agree(sources, token) : { reason: trouble }
    const rate = price === undefined ? { reason } : { units: rateOf(price, token.decimals) }
    return { at, rate, sources }
  }

  const begin = (token: PricedDefinition): Known => {
    const look = find(token)
    const begun: Known = { until: performance.now() + maxAge * 1_000, look, isGood: true }
    known.set(token.address, begun)
    look.then(
      ({ rate }) => {
        begun.isGood = rate.units !== undefined
      },
      () => {
        begun.isGood = false
      },
    )
    return begun
  }

  const lastOf = ({ address }: PricedDefinition): Known | undefined => {
    const last = known.get(address)
    return last !== undefined && last.until > performance.now() ? last : undefined
  }

  return {
    async rate(token) {
      const last = lastOf(token)
      const { rate } = await (last?.isGood ? last : begin(token)).look
      if (rate.units === undefined) throw new TokenPriceError(token, rate.reason)
      return rate.units
    },
    look: (token) => (lastOf(token) ?? begin(token)).look,
  }
}

/** A token that gas can be paid with, and the last look at its price; undefined = the node did not answer. */
export type TokenPrice = { readonly token: TokenDefinition; readonly look: PriceLook | undefined }

/** Milliseconds for which a list stands, also where prices may be younger. */
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

import type { Address } from 'viem'
import type {
  PriceSourceDefinition,
  SequencerDefinition,
  TokenDefinition,
} from '../chain/definition/tokenDefinition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { TokenPriceError } from '../errors/tokenErrors.js'
import type { OutboundClient } from '../outbound/guardedRequest.js'
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
  rate(token: TokenDefinition): Promise<bigint>
}

type Known = { readonly until: number; readonly rate: Promise<bigint> }

/** Makes the prices of a chain's tokens, from the sources that each token names. */
export function createPrices({ node, client, sequencer, maxAge, now }: PricesContext): Prices {
  const known = new Map<Address, Known>()
  const checked = new Set<Address>()

  const ask = (source: PriceSourceDefinition): Promise<PriceOrReason> | PriceOrReason => {
    if (source.kind === 'fixed') return { price: source.perNative }
    if (source.kind === 'http') return perNativeByHttp(client, source)
    return perNativeByFeeds(node, source, now())
  }

  /** An amount in other decimals than the contract's would be wrong by powers of ten. */
  const requireDecimals = async (token: TokenDefinition): Promise<void> => {
    if (checked.has(token.address)) return
    const decimals = await readDecimals(node, token.address)
    if (decimals !== token.decimals)
      throw new TokenPriceError(
        token,
        `its contract has ${decimals ?? 'no'} decimals, ${token.decimals} are configured`,
      )
    checked.add(token.address)
  }

  const find = async (token: TokenDefinition): Promise<bigint> => {
    await requireDecimals(token)
    const usesFeeds = token.sources.some(({ kind }) => kind === 'feeds')
    const [trouble, ...answers] = await Promise.all([
      sequencer && usesFeeds ? sequencerTrouble(node, sequencer, now()) : undefined,
      ...token.sources.map(ask),
    ])
    const { price, reason } = trouble === undefined ? agree(answers, token) : { reason: trouble }
    if (price === undefined) throw new TokenPriceError(token, reason)
    return rateOf(price, token.decimals)
  }

  return {
    rate: (token) => {
      const at = performance.now()
      const last = known.get(token.address)
      if (last !== undefined && last.until > at) return last.rate
      const rate = find(token)
      known.set(token.address, { until: at + maxAge * 1_000, rate })
      rate.catch(() => {
        if (known.get(token.address)?.rate === rate) known.delete(token.address)
      })
      return rate
    },
  }
}

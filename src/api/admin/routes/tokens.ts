import { formatUnits } from 'viem/utils'
import type { PriceSourceDefinition } from '../../../chain/definition/tokenDefinition.js'
import {
  type AccountCollected,
  listCollectedOfAccount,
} from '../../../paymaster/ledger/tokenPayments.js'
import type { TokenPrice } from '../../../paymaster/prices/createPrices.js'
import type { TokenBook } from '../../../paymaster/tokenBooks.js'
import { contracts } from '../../contracts/contracts.js'
import { type Route, serve } from '../route.js'

/** Decimals of the prices of sources. */
const PRICE_DECIMALS = 18

function encodeToken({ chainId, appId: _, payments, missed, ...rest }: TokenBook) {
  return {
    ...rest,
    chainId: Number(chainId),
    payments: Number(payments),
    missed: Number(missed),
  }
}

function encodePrice(
  chainId: number,
  { token, look }: TokenPrice,
  taken: AccountCollected | undefined,
) {
  const { address, symbol, name, decimals, markup, minimumSources, maxDeviation } = token
  const { units, reason } = look?.rate ?? { reason: 'the node of the chain does not answer' }
  return {
    chainId,
    address,
    symbol,
    name,
    decimals,
    markup,
    minimumSources,
    maxDeviation,
    price: units === undefined ? null : formatUnits(units, decimals),
    reason: reason ?? null,
    readAt: look === undefined ? null : timeOf(look.at),
    sources: token.sources.map((source, index) => {
      const { price, reason: why, updatedAt } = look?.sources[index] ?? {}
      return {
        ...describe(source),
        price: price === undefined ? null : formatUnits(price, PRICE_DECIMALS),
        reason: why ?? null,
        updatedAt: updatedAt === undefined ? null : timeOf(updatedAt),
      }
    }),
    taken: {
      collected: taken?.collected ?? 0n,
      payments: Number(taken?.payments ?? 0n),
      missed: Number(taken?.missed ?? 0n),
      lost: taken?.lost ?? 0n,
    },
  }
}

/** A source by what identifies it; of a URL the host alone, because the rest may hold a key. */
function describe(source: PriceSourceDefinition) {
  const { kind } = source
  if (kind === 'fixed') return { kind, names: [], heartbeat: null }
  if (kind === 'http') return { kind, names: [source.url.host], heartbeat: null }
  const feeds = source.native === undefined ? [source.token] : [source.token, source.native]
  return {
    kind,
    names: feeds.map(({ address }) => address),
    heartbeat: Math.max(...feeds.map(({ heartbeat }) => heartbeat)),
  }
}

function timeOf(seconds: number): Date {
  return new Date(seconds * 1_000)
}

export const tokenRoutes: readonly Route[] = serve(contracts.token)({
  async 'GET /tokens'({ context, accountId }) {
    const [takings, ...ofChains] = await Promise.all([
      listCollectedOfAccount(context.database, accountId),
      ...[...context.chains.values()].map(async ({ chainId, tokenPrices }) => ({
        chainId,
        prices: await tokenPrices(),
      })),
    ])
    const takenOf = (chainId: number, token: string) =>
      takings.find((each) => Number(each.chainId) === chainId && each.token === token)
    return ofChains.flatMap(({ chainId, prices }) =>
      prices.map((each) => encodePrice(chainId, each, takenOf(chainId, each.token.address))),
    )
  },
  'GET /apps/{appId}/tokens': async ({ context, app }) =>
    (await context.tokenBooks(app.id)).map(encodeToken),
})

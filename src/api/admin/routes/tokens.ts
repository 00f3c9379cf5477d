import { formatUnits } from 'viem/utils'
import { z } from 'zod'
import type { PriceSourceDefinition } from '../../../chain/definition/tokenDefinition.js'
import {
  type AccountCollected,
  listCollectedOfAccount,
} from '../../../paymaster/ledger/tokenPayments.js'
import type { TokenPrice } from '../../../paymaster/prices/createPrices.js'
import type { TokenBook } from '../../../paymaster/tokenBooks.js'
import { address, listOf, time, wei } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'

const units = z.string().regex(/^\d{1,78}$/, 'must be smallest units of the token')

const book = z.object({
  chainId: z.int(),
  tank: address,
  token: address,
  collected: units,
  /** Collected and not held any more, of all apps that use the tank. */
  withdrawn: units,
  /** By the tank, of all apps that use it. */
  held: units,
  /** The most that live quotes may still bring in. */
  promised: units,
  payments: z.int(),
  missed: z.int(),
  /** The cost of missed payments to the tank. */
  lost: wei,
})

/** Whole tokens for one native coin. */
const price = z.string().regex(/^\d{1,60}(\.\d{1,18})?$/)

const priceSource = z.object({
  kind: z.enum(['fixed', 'feeds', 'http']),
  /** The host of a server, or the addresses of feeds: of the token, then of the native coin. */
  names: z.array(z.string()),
  /** Null = the source gives none that can be relied on, and `reason` says why; both null = it was not asked. */
  price: price.nullable(),
  reason: z.string().nullable(),
  /** When the older of the feeds was updated; null where the source does not say. */
  updatedAt: time.nullable(),
  /** Seconds after which the slowest feed counts as stale. */
  heartbeat: z.int().nullable(),
})

const pricedToken = z.object({
  chainId: z.int(),
  address,
  symbol: z.string(),
  name: z.string(),
  decimals: z.int(),
  /** Millionths of the cost that are charged: 1000000 = the cost itself. */
  markup: z.int(),
  /** Null = there is no price that can be relied on, and nobody can pay in the token; `reason` says why. */
  price: price.nullable(),
  reason: z.string().nullable(),
  /** When the sources were asked; null = the node of the chain does not answer. */
  readAt: time.nullable(),
  /** Sources that must answer. */
  minimumSources: z.int(),
  /** Millionths by which the highest price may exceed the lowest. */
  maxDeviation: z.int(),
  sources: z.array(priceSource),
  /** What operations of the account paid in the token, by the chain's events. */
  taken: z.object({ collected: units, payments: z.int(), missed: z.int(), lost: wei }),
})

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
  const { decimals } = token
  const { units, reason } = look?.rate ?? { reason: 'the node of the chain does not answer' }
  return {
    ...token,
    chainId,
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
  const feeds = [source.token, source.native].filter((each) => each !== undefined)
  return {
    kind,
    names: feeds.map(({ address }) => address),
    heartbeat: Math.max(...feeds.map(({ heartbeat }) => heartbeat)),
  }
}

function timeOf(seconds: number): Date {
  return new Date(seconds * 1_000)
}

/** Tokens are withdrawn by a command, which holds the owner's key for it. */
export const tokenRoutes = [
  route('GET /tokens', {
    summary: 'The tokens that gas can be paid with, with their prices, the sources and their age',
    role: 'viewer',
    answer: listOf(pricedToken),
    async run({ context, accountId }) {
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
  }),
  route('GET /apps/{appId}/tokens', {
    summary: 'What the operations of an app paid in tokens, by chain, token and tank',
    role: 'viewer',
    answer: listOf(book),
    run: async ({ context, app }) => (await context.tokenBooks(app.id)).map(encodeToken),
  }),
]

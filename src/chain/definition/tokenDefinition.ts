import type { Address } from 'viem'
import { z } from 'zod'
import type { DeepReadonly } from '../../base/deepReadonly.js'
import { parseFixed18 } from '../../base/parseFixed18.js'

/** Lower case. */
export const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address (0x and 40 hex digits)')
  .transform((value) => value.toLowerCase() as Address)

/** Too precise for a JSON number. */
const price = z.string().transform((text, context) => {
  const value = parseFixed18(text)
  if (value !== undefined) return value
  context.addIssue('must be a number above 0 in quotes, such as "3000.25"')
  return z.NEVER
})

/** A contract that answers latestRoundData and decimals, as Chainlink's do. */
const feed = z.strictObject({
  address,
  /** Seconds within which the feed promises a new answer; an older one is stale. */
  heartbeat: z.int().min(1).max(604_800),
  /** Whole units (USD, or native coins) outside of which an answer is not believed. */
  min: price.optional(),
  max: price.optional(),
})

const http = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  path: z.string().regex(/^[^.]{1,60}(\.[^.]{1,60}){0,9}$/, 'must be names with dots between'),
})

/** A source of a token's price. Every source gives whole tokens per native coin. */
const source = z.union(
  [
    /** A constant price: for development. */
    z.strictObject({ fixed: price }),
    /** Both in the same currency; without `native`, `token` is in native coins. */
    z.strictObject({ feeds: z.strictObject({ token: feed, native: feed.optional() }) }),
    /** A JSON document; `path` leads to the number, `data.0.price`. */
    z.strictObject({ http }),
  ],
  'must be {"fixed": …}, {"feeds": …} or {"http": …} as in docs/operate/configuration.md',
)

/** An amount of the token, such as "2500.5"; how many digits it may have is the token's. */
const amount = z.string().regex(/^\d{1,30}(\.\d{1,36})?$/, 'must be an amount in quotes')

/** What is shown by wallets: no markup, no control characters. */
function label(length: number) {
  return z
    .string()
    .max(length)
    .regex(/^[^\p{C}<>]+$/u, 'must be plain text')
}

/** An ERC-20 token that gas can be paid with: one entry of `tokens` of a chain. */
export const tokenSchema = z
  .strictObject({
    address,
    symbol: label(20),
    name: label(60).optional(),
    decimals: z.int().min(0).max(36),
    logoUrl: z.url({ protocol: /^https$/ }).optional(),
    /** Millionths of the cost that are charged: 1,000,000 = the cost itself. */
    markup: z.int().min(1_000_000).max(2_000_000).default(1_000_000),
    sources: z.array(source).min(1).max(5),
    /** Number of sources that must answer. */
    minimumSources: z.int().min(1).max(5).default(1),
    /** Millionths by which the highest may exceed the lowest. */
    maxDeviation: z.int().min(0).max(500_000).default(20_000),
    /** Tokens that tanks may hold or be promised; absent = no limit. */
    maxExposure: amount.optional(),
    /** The address that receives charges; absent = they stay in the tank. */
    treasury: address.optional(),
    /** Gas that a call takes beyond one of a plain token: a proxy, a look at a list. */
    extraCallGas: z.int().min(0).max(500_000).default(0),
  })
  .refine(({ sources, minimumSources }) => minimumSources <= sources.length, {
    message: 'must not be more than there are sources',
    path: ['minimumSources'],
  })
  .refine(({ maxExposure = '', decimals }) => fractionOf(maxExposure).length <= decimals, {
    message: 'must not have more digits than the token',
    path: ['maxExposure'],
  })

/** The sources of the coin's price in USD: a feed of the coin, or a JSON document with USD for one of it. */
export const usdPriceSchema = z
  .strictObject({
    sources: z
      .array(
        z.union(
          [z.strictObject({ feed }), z.strictObject({ http })],
          'must be {"feed": …} or {"http": …} as in docs/operate/configuration.md',
        ),
      )
      .min(1)
      .max(5),
    minimumSources: z.int().min(1).max(5).default(1),
    maxDeviation: z.int().min(0).max(500_000).default(20_000),
  })
  .refine(({ sources, minimumSources }) => minimumSources <= sources.length, {
    message: 'must not be more than there are sources',
    path: ['minimumSources'],
  })

/** On a layer 2 prices stand still while its sequencer does; they are believed some time after. */
export const sequencerSchema = z.strictObject({
  address,
  /** Seconds after the sequencer came back. */
  gracePeriod: z.int().min(0).max(86_400).default(3_600),
})

function fractionOf(amount: string): string {
  return amount.split('.')[1] ?? ''
}

/** In smallest units. */
function toUnits(amount: string, decimals: number): bigint {
  return BigInt((amount.split('.')[0] ?? '') + fractionOf(amount).padEnd(decimals, '0'))
}

function toSource(source: z.output<typeof tokenSchema>['sources'][number]) {
  if ('fixed' in source) return { kind: 'fixed' as const, perNative: source.fixed }
  if ('http' in source) return toHttp(source.http)
  const { token, native } = source.feeds
  return { kind: 'feeds' as const, token: token as z.output<typeof feed> | undefined, native }
}

function toHttp({ url, path }: z.output<typeof http>) {
  return { kind: 'http' as const, url: new URL(url), path: path.split('.') }
}

/** The address of what is no contract. */
export const USD_ADDRESS: Address = '0x0000000000000000000000000000000000000000'

/** USD as a token of 6 decimals, for the price of the coin: its units are millionths. */
export function toUsdDefinition({ sources, ...agreement }: z.output<typeof usdPriceSchema>) {
  return {
    ...agreement,
    address: USD_ADDRESS,
    symbol: 'USD',
    decimals: 6,
    sources: sources.map((each) =>
      'http' in each
        ? toHttp(each.http)
        : { kind: 'feeds' as const, token: undefined, native: each.feed },
    ),
  }
}

/** Prices are whole units times 10^18, `maxExposure` is in smallest units. */
export function toTokenDefinition(token: z.output<typeof tokenSchema>) {
  return {
    ...token,
    name: token.name ?? token.symbol,
    logoUrl: token.logoUrl,
    sources: token.sources.map(toSource),
    maxExposure:
      token.maxExposure === undefined ? undefined : toUnits(token.maxExposure, token.decimals),
    treasury: token.treasury,
    extraCallGas: BigInt(token.extraCallGas),
  }
}

export type TokenDefinition = DeepReadonly<ReturnType<typeof toTokenDefinition>>
/** What is priced in coins: a token, or USD. */
export type PricedDefinition = Pick<
  TokenDefinition,
  'address' | 'symbol' | 'decimals' | 'sources' | 'minimumSources' | 'maxDeviation'
>
export type PriceSourceDefinition = DeepReadonly<ReturnType<typeof toSource>>
export type FeedDefinition = DeepReadonly<z.output<typeof feed>>
export type SequencerDefinition = DeepReadonly<z.output<typeof sequencerSchema>>

import { z } from 'zod'
import type { PriceSourceDefinition, TokenDefinition } from '../chain/definition/tokenDefinition.js'
import { parseFixed18 } from '../prices/perNative.js'
import { address } from './address.js'

/** Too precise for a JSON number. */
const price = z.string().transform((text, context) => {
  const value = parseFixed18(text)
  if (value !== undefined) return value
  context.addIssue('must be a number above 0 in quotes, such as "3000.25"')
  return z.NEVER
})

const feed = z.strictObject({
  address,
  heartbeat: z.int().min(1).max(604_800),
  min: price.optional(),
  max: price.optional(),
})

const source = z.union(
  [
    z.strictObject({ fixed: price }),
    z.strictObject({ feeds: z.strictObject({ token: feed, native: feed.optional() }) }),
    z.strictObject({
      http: z.strictObject({
        url: z.url({ protocol: /^https?$/ }),
        path: z
          .string()
          .regex(/^[^.]{1,60}(\.[^.]{1,60}){0,9}$/, 'must be names with dots between'),
      }),
    }),
  ],
  'must be {"fixed": …}, {"feeds": …} or {"http": …} as in docs/configuration.md',
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

/** One entry of `tokens` of a chain. */
export const tokenSchema = z
  .strictObject({
    address,
    symbol: label(20),
    name: label(60).optional(),
    decimals: z.int().min(0).max(36),
    logoUrl: z.url({ protocol: /^https$/ }).optional(),
    markup: z.int().min(1_000_000).max(2_000_000).default(1_000_000),
    sources: z.array(source).min(1).max(5),
    minimumSources: z.int().min(1).max(5).default(1),
    maxDeviation: z.int().min(0).max(500_000).default(20_000),
    maxExposure: amount.optional(),
    treasury: address.optional(),
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

export const sequencerSchema = z.strictObject({
  address,
  gracePeriod: z.int().min(0).max(86_400).default(3_600),
})

function fractionOf(amount: string): string {
  return amount.split('.')[1] ?? ''
}

/** In smallest units. */
function toUnits(amount: string, decimals: number): bigint {
  return BigInt((amount.split('.')[0] ?? '') + fractionOf(amount).padEnd(decimals, '0'))
}

function toSource(source: z.output<typeof tokenSchema>['sources'][number]): PriceSourceDefinition {
  if ('fixed' in source) return { kind: 'fixed', perNative: source.fixed }
  if ('http' in source) {
    const { url, path } = source.http
    return { kind: 'http', url: new URL(url), path: path.split('.') }
  }
  const { token, native } = source.feeds
  return { kind: 'feeds', token: toFeed(token), native: native && toFeed(native) }
}

function toFeed({ address, heartbeat, min, max }: z.output<typeof feed>) {
  return {
    address,
    heartbeat,
    min,
    max,
  }
}

export function toTokenDefinition(token: z.output<typeof tokenSchema>): TokenDefinition {
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

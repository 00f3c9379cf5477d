import { expect, test } from 'vitest'
import {
  tokenSchema,
  toTokenDefinition,
  toUsdDefinition,
  usdPriceSchema,
} from './tokenDefinition.js'

const given = {
  address: '0x00000000000000000000000000000000000000AA',
  symbol: 'USDC',
  decimals: 6,
  markup: 1_050_000,
  maxExposure: '2500.5',
  sources: [
    { fixed: '3000.25' },
    { http: { url: 'https://prices.example/eth', path: 'data.0.price' } },
    {
      feeds: {
        token: {
          address: '0x00000000000000000000000000000000000000f1',
          heartbeat: 86_400,
          min: '0.9',
        },
        native: { address: '0x00000000000000000000000000000000000000F2', heartbeat: 3_600 },
      },
    },
  ],
}

test('a token is read with its amounts in smallest units and its prices in 18 decimals', () => {
  const token = toTokenDefinition(tokenSchema.parse(given))
  expect(token).toMatchObject({
    address: '0x00000000000000000000000000000000000000aa',
    name: 'USDC',
    maxExposure: 2_500_500_000n,
    minimumSources: 1,
    maxDeviation: 20_000,
    treasury: undefined,
  })
  expect(token.sources).toEqual([
    { kind: 'fixed', perNative: 3_000_250_000_000_000_000_000n },
    { kind: 'http', url: new URL('https://prices.example/eth'), path: ['data', '0', 'price'] },
    {
      kind: 'feeds',
      token: {
        address: '0x00000000000000000000000000000000000000f1',
        heartbeat: 86_400,
        min: 900_000_000_000_000_000n,
        max: undefined,
      },
      native: {
        address: '0x00000000000000000000000000000000000000f2',
        heartbeat: 3_600,
        min: undefined,
        max: undefined,
      },
    },
  ])
})

test.each([
  ['a price of nothing', { sources: [{ fixed: '0' }] }, 'must be {"fixed": …}'],
  ['no source', { sources: [] }, 'Too small'],
  ['more sources required than given', { minimumSources: 4 }, 'must not be more'],
  ['an exposure finer than the token', { maxExposure: '1.0000001' }, 'more digits'],
  ['a markup that sells below cost', { markup: 999_999 }, 'Too small'],
  ['a markup above the double', { markup: 2_000_001 }, 'Too big'],
  ['a symbol with markup', { symbol: '<b>' }, 'plain text'],
  ['a logo that is no https', { logoUrl: 'javascript:alert(1)' }, 'Invalid URL'],
  ['a name that is none of its own', { adress: given.address }, 'Unrecognized key'],
])('refuses %s', (_, change, message) => {
  const parsed = tokenSchema.safeParse({ ...given, ...change })
  expect(parsed.error?.issues.map((issue) => issue.message).join()).toContain(message)
})

test('USD are priced as a token of six decimals, by feeds of the coin and documents', () => {
  const feed = { address: `0x${'5F'.repeat(20)}`, heartbeat: 3_600, min: '100' }
  const http = { url: 'https://prices.example/eth-usd', path: 'data.price' }
  const usd = toUsdDefinition(
    usdPriceSchema.parse({ sources: [{ feed }, { http }], minimumSources: 2 }),
  )
  expect(usd).toMatchObject({ decimals: 6, minimumSources: 2, maxDeviation: 20_000 })
  expect(usd.sources).toEqual([
    {
      kind: 'feeds',
      token: undefined,
      native: { address: `0x${'5f'.repeat(20)}`, heartbeat: 3_600, min: 100n * 10n ** 18n },
    },
    { kind: 'http', url: new URL(http.url), path: ['data', 'price'] },
  ])
  for (const wrong of [
    { sources: [] },
    { sources: [{ feed }], minimumSources: 2 },
    { sources: [{ fixed: '1' }] },
    { sources: [{ feeds: { token: feed } }] },
  ])
    expect(usdPriceSchema.safeParse(wrong).success).toBe(false)
})

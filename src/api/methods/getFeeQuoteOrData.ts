import { encodeClassicSponsorship } from '../dialects/classic/classicSponsorship.js'
import { decodeQuoteContext } from '../dialects/decode/mode.js'
import { inferEntryPoint, withOperation } from '../dialects/decode/paymasterRequest.js'
import type { QuotesAnswer, VersionedSponsorship } from '../dialects/paymasterAnswer.js'
import { encodeQuotes } from '../dialects/paymasterData.js'
import { encodeStandardSponsorship } from '../dialects/standard/standardSponsorship.js'
import { EXAMPLE_TANK, exampleOperationJson } from './examples/examples.js'
import { exampleToken } from './examples/exampleToken.js'
import { method } from './method.js'
import { paymasterErrors } from './methodErrors.js'
import { refusalOf, requestSponsorship } from './requestPaymaster.js'

export const getFeeQuoteOrData = method({
  name: 'pm_getFeeQuoteOrData',
  summary: 'Prices of the gas in tokens, or in mode SPONSORED the sponsorship itself.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: ['operation', 'mode?'],
  errors: paymasterErrors,
  decode: ([operation, mode], chain) =>
    withOperation(
      decodeQuoteContext(mode, 'params[1]'),
      operation,
      inferEntryPoint(operation, chain),
      'result',
    ),
  run: async (request, context): Promise<VersionedSponsorship | QuotesAnswer> => {
    if (request.mode === 'SPONSORED') return requestSponsorship(request, context)
    const { chain, appId } = context
    return { mode: 'QUOTES', ...(await chain.tokens.quote({ ...request, appId })) }
  },
  refusal: refusalOf,
  encode: {
    classic: (answer) =>
      answer.mode === 'QUOTES' ? encodeQuotes(answer) : encodeClassicSponsorship(answer),
    standard: (answer) =>
      answer.mode === 'QUOTES' ? encodeQuotes(answer) : encodeStandardSponsorship(answer),
  },
  example: {
    params: [exampleOperationJson, { mode: 'ERC20', tokenInfo: { tokenList: [] } }],
    outcome: {
      mode: 'QUOTES',
      paymaster: EXAMPLE_TANK,
      quotes: [
        {
          token: exampleToken,
          maxCharge: 820_000n,
          rate: 3_000_000_000n,
          validUntil: 1_800_000_000,
        },
      ],
      unsupported: [],
      nativePrice: 3_000_000_000n,
    },
    result: {
      both: {
        mode: 'ERC20',
        MODE: 'ERC20',
        paymasterAddress: '0x7a11c0de00000000000000000000000000000007',
        feeQuotes: [
          {
            symbol: 'USDC',
            name: 'USD Coin',
            decimal: 6,
            tokenAddress: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
            maxGasFee: 0.82,
            maxGasFeeUSD: 0.82,
            exchangeRate: 3_000_000_000,
            premiumPercentage: '5',
            validUntil: 1_800_000_000,
            logoUrl: '',
          },
        ],
        unsupportedTokens: [],
      },
    },
  },
})

import { z } from 'zod'
import { encodeClassicSponsorship } from '../dialects/classic.js'
import { partialOperation } from '../dialects/decode/operation.js'
import {
  inferEntryPoint,
  quoteContext,
  withOperation,
} from '../dialects/decode/paymasterRequest.js'
import {
  encodeQuotes,
  type QuotesAnswer,
  type VersionedSponsorship,
} from '../dialects/paymasterData.js'
import { encodeStandardSponsorship } from '../dialects/standard.js'
import { exampleOperationJson, exampleQuotes } from './examples.js'
import { refusalOf, requestSponsorship } from './getPaymasterData.js'
import { classicSponsorship, quotes, standardSponsorship } from '../openRpc/results.js'
import { method, simulationErrors } from './method.js'

export const getFeeQuoteOrData = method({
  name: 'pm_getFeeQuoteOrData',
  summary: 'Prices of the gas in tokens, or the sponsorship itself in mode SPONSORED.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: { operation: partialOperation, mode: quoteContext },
  errors: simulationErrors,
  decode: ({ operation, mode }, chain) =>
    withOperation(mode, operation, inferEntryPoint(operation, chain), 'result'),
  run: async (request, context): Promise<VersionedSponsorship | QuotesAnswer> => {
    if (request.mode === 'SPONSORED') return requestSponsorship(request, context)
    const { chain, appId, requester } = context
    return { mode: 'QUOTES', ...(await chain.tokens.quote({ ...request, appId, requester })) }
  },
  refusal: refusalOf,
  result: {
    classic: z.union([quotes, classicSponsorship]),
    standard: z.union([quotes, standardSponsorship]),
  },
  encode: {
    classic: (answer) =>
      answer.mode === 'QUOTES' ? encodeQuotes(answer) : encodeClassicSponsorship(answer),
    standard: (answer) =>
      answer.mode === 'QUOTES' ? encodeQuotes(answer) : encodeStandardSponsorship(answer),
  },
  example: {
    params: [exampleOperationJson, { mode: 'ERC20', tokenInfo: { tokenList: [] } }],
    outcome: { mode: 'QUOTES', ...exampleQuotes },
  },
})

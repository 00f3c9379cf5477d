import { unixNow } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { zeroAddress } from '../../encoding/constants.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { TimeRange } from '../../entrypoint/validationData.js'
import { TokenPriceError, UnsupportedTokenError } from '../../errors/tokenErrors.js'
import { recentPrice } from '../../policy/price.js'
import { givenLimits, limitsToSign } from '../sponsor/sponsoredLimits.js'
import { complete, withPaymaster } from '../sponsoredDraft.js'
import { durationOf, timeRange } from '../sponsorshipTerms.js'
import type { FeeQuote, FeeQuotes, QuoteRequest } from '../tokenPayment.js'
import { quotedCharge } from './quotedOperation.js'
import { requireTokenTank } from './tokenCase.js'
import type { TokenParts } from './tokenContext.js'

/**
 * The cost of an operation in each token, without promise or record. A token without a reliable
 * price is left out; throws its TokenPriceError when no other is left, and UnsupportedTokenError.
 */
export async function quoteTokens(parts: TokenParts, request: QuoteRequest): Promise<FeeQuotes> {
  const { chainId, tokens } = parts.definition
  const { appId, entryPoint, calculateGasLimits, draft, tokens: wanted } = request
  const chosen =
    wanted.length === 0 ? tokens : tokens.filter(({ address }) => wanted.includes(address))
  const [first] = chosen
  if (first === undefined) throw new UnsupportedTokenError(wanted, chainId, tokens)
  const unpaid = withPaymaster(draft, undefined)
  const [tank, estimate, head] = await Promise.all([
    requireTokenTank(parts, appId, entryPoint, first.address),
    parts.estimate(entryPoint, unpaid),
    parts.heads.refresh(),
  ])
  const limits = limitsToSign(givenLimits(unpaid, calculateGasLimits), estimate)
  const measured = complete(unpaid, { ...estimate, ...limits })
  const now = unixNow()
  const range = timeRange(head.timestamp, now, durationOf(undefined, parts.terms))
  const answers = await Promise.all(
    chosen.map((token) => quoteToken(parts, token, { measured, request, range })),
  )
  const quotes = answers.flatMap((answer) => (answer instanceof TokenPriceError ? [] : [answer]))
  const failure = answers.find((answer) => answer instanceof TokenPriceError)
  if (quotes.length === 0 && failure !== undefined) throw failure
  const quoted = new Set(quotes.map(({ token }) => token.address))
  const unsupported = wanted.filter((address) => !quoted.has(address))
  const price = recentPrice(await parts.terms.prices(chainId), now, parts.terms.maxPriceAge)
  return { paymaster: tank.address, quotes, unsupported, nativePrice: price?.microUsd }
}

type QuotedOperation = {
  readonly measured: Operation
  readonly request: QuoteRequest
  readonly range: TimeRange
}

async function quoteToken(
  { prices }: TokenParts,
  token: TokenDefinition,
  { measured, request: { entryPoint }, range }: QuotedOperation,
): Promise<FeeQuote | TokenPriceError> {
  try {
    const rate = await prices.rate(token)
    const { address, markup, treasury = zeroAddress } = token
    const terms = { token: address, rate, markup, treasury, ...range }
    const maxCharge = quotedCharge(measured, entryPoint, terms, token.extraCallGas)
    return { token, maxCharge, rate, validUntil: range.validUntil }
  } catch (error) {
    if (error instanceof TokenPriceError) return error
    throw error
  }
}

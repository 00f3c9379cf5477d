import { greatest } from '../../base/bigints.js'
import { TokenPriceError, UnsupportedTokenError } from '../../base/errors/sponsorshipErrors.js'
import { unixNow } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { zeroAddress } from '../../erc4337/encoding/constants.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import { recentPrice } from '../policy/price.js'
import { givenLimits, limitsToSign } from '../sponsor/sponsoredLimits.js'
import { complete, unknownDraft, withPaymaster } from '../sponsoredDraft.js'
import { durationOf, timeRange } from '../sponsorshipTerms.js'
import { surchargeOf } from '../tank/tankGas.js'
import type { TokenQuote } from '../tokenData.js'
import type {
  FeeQuote,
  FeeQuotes,
  QuoteRequest,
  RatesRequest,
  TokenList,
  TokenRate,
  TokenRates,
} from '../tokenPayment.js'
import { requireTokenTank, tokenStub } from './tokenCase.js'
import {
  leastVerificationGas06,
  maxTokenCharge,
  tokenCharge,
  tokenPostOpGas,
  tokenVerificationGas,
  unlimitedGas,
} from './tokenCharge.js'
import type { TokenParts } from './tokenContext.js'

/**
 * The cost of an operation in each token, without promise or record. A token without a reliable
 * price is left out; throws its TokenPriceError when no other is left, and UnsupportedTokenError.
 */
export async function quoteTokens(parts: TokenParts, request: QuoteRequest): Promise<FeeQuotes> {
  const { chainId, tokens } = parts.definition
  const { appId, entryPoint, calculateGasLimits, draft, requester, tokens: wanted } = request
  const chosen =
    wanted.length === 0 ? tokens : tokens.filter(({ address }) => wanted.includes(address))
  const [first] = chosen
  if (first === undefined) throw new UnsupportedTokenError(wanted, chainId, tokens)
  const unpaid = withPaymaster(draft, undefined)
  const [tank, estimate, head] = await Promise.all([
    requireTokenTank(parts, appId, entryPoint, first.address),
    parts.estimate(entryPoint, unpaid, { requester }),
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

/** gas that a client's approval adds to the call when it puts one in front: a batch, a new slot */
const APPROVAL_GAS = 80_000n
/** gas for the bytes of that approval and of the tank's data */
const CALLDATA_GAS = 12_000n
/** Margin for a price that moves by a tenth between the quote and the signature. */
const priceRoom = { numerator: 11n, denominator: 10n }

/**
 * The smallest token units that an operation, measured without the tank, may cost with the tank and
 * with an approval in front. Clients approve this much, and the charge that is signed later must
 * fit into it. `perCall` is gas of the token, see tokenGas.ts.
 */
function quotedCharge(
  measured: Operation,
  entryPoint: EntryPoint,
  terms: Omit<TokenQuote, 'mode' | 'postOpGas'>,
  perCall: bigint,
): bigint {
  const mode = 'afterwards'
  const postOpGas = tokenPostOpGas(entryPoint, { ...terms, mode }, perCall)
  const verification = tokenVerificationGas(entryPoint, measured, mode, perCall)
  const { hasPaymasterLimits } = entryPoint
  const shared = greatest(
    measured.verificationGasLimit + verification,
    leastVerificationGas06(postOpGas),
  )
  const op: Operation = {
    ...measured,
    callGasLimit:
      measured.callGasLimit + APPROVAL_GAS + surchargeOf(entryPoint.gas, { slots: 1, changes: 0 }),
    preVerificationGas: measured.preVerificationGas + CALLDATA_GAS,
    verificationGasLimit: hasPaymasterLimits ? measured.verificationGasLimit : shared,
    paymasterVerificationGasLimit: hasPaymasterLimits ? verification : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? postOpGas : 0n,
  }
  const charge = maxTokenCharge(op, entryPoint, { ...terms, mode, postOpGas })
  return (charge * priceRoom.numerator) / priceRoom.denominator + 1n
}

/** The wei in whose units rates are given. */
const ONE_COIN = 10n ** 18n

/**
 * The rates by which tokens pay for gas, without an operation to pay for. A token that the chain does not
 * take, or that has no reliable price now, is left out: clients look for theirs in the answer. Throws
 * TokenPaymentError (NO_TOKEN_TANK).
 */
export async function rateTokens(parts: TokenParts, request: RatesRequest): Promise<TokenRates> {
  const { chainId, tokens } = parts.definition
  const { appId, entryPoint, tokens: wanted } = request
  const chosen = tokens.filter(({ address }) => wanted.includes(address))
  const price = recentPrice(await parts.terms.prices(chainId), unixNow(), parts.terms.maxPriceAge)
  const [first] = chosen
  if (first === undefined) return { rates: [], nativePrice: price?.microUsd }
  const tank = await requireTokenTank(parts, appId, entryPoint, first.address)
  const answers = await Promise.all(
    chosen.map((token) => rateToken(parts, token, entryPoint, tank.address)),
  )
  return {
    rates: answers.filter((answer) => answer !== undefined),
    nativePrice: price?.microUsd,
  }
}

async function rateToken(
  { prices }: TokenParts,
  token: TokenDefinition,
  entryPoint: EntryPoint,
  paymaster: TokenRate['paymaster'],
): Promise<TokenRate | undefined> {
  try {
    const rate = await prices.rate(token)
    const { markup, treasury = zeroAddress, extraCallGas } = token
    const mode = 'afterwards'
    const postOpGas = tokenPostOpGas(entryPoint, { mode, treasury }, extraCallGas)
    return {
      token,
      paymaster,
      markedUpRate: tokenCharge(ONE_COIN, { rate, markup }),
      extraGas: postOpGas + unlimitedGas(entryPoint, { mode, postOpGas }),
    }
  } catch (error) {
    if (error instanceof TokenPriceError) return undefined
    throw error
  }
}

/** Terms of no charge: an operation with them can be estimated by a sender that has neither tokens nor approved any. */
const freeTerms = { rate: 0n, markup: 1, validAfter: 1, validUntil: 2 ** 48 - 1 }

/** The rates of all tokens, and the token tank's part of an operation, to estimate with before a token is chosen. */
export async function listTokens(
  parts: TokenParts,
  { appId, entryPoint }: Omit<RatesRequest, 'tokens'>,
): Promise<TokenList> {
  const { tokens } = parts.definition
  const tank = await parts.payers.findTokenTank(appId, entryPoint)
  const [first] = tokens
  if (tank === undefined || first === undefined) return { rates: [], stub: undefined }
  const { rates } = await rateTokens(parts, {
    appId,
    entryPoint,
    tokens: tokens.map(({ address }) => address),
  })
  const mode = 'afterwards'
  const perCall = greatest(0n, ...tokens.map(({ extraCallGas }) => extraCallGas))
  const postOpGas = tokenPostOpGas(entryPoint, { mode, treasury: zeroAddress }, perCall)
  const quote = {
    ...freeTerms,
    mode,
    token: first.address,
    treasury: zeroAddress,
    postOpGas,
  } as const
  return {
    rates,
    stub: tokenStub(tank.address, { quote, permit: undefined, perCall }, entryPoint, unknownDraft),
  }
}

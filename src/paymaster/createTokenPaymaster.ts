import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import type { TokenDefinition } from '../chain/tokenDefinition.js'
import { zeroAddress } from '../encoding/constants.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { describeRevert } from '../entrypoint/revertReason.js'
import { PurserError } from '../errors/purserError.js'
import { SponsorshipRefusedError } from '../errors/sponsorshipErrors.js'
import { MissingTokenError, TokenPriceError, UnsupportedTokenError } from '../errors/tokenErrors.js'
import { recentPrice } from '../policy/price.js'
import { reserve } from '../policy/reserve.js'
import { insertDecision } from '../store/ledger/decisions.js'
import { insertTokenQuote } from '../store/ledger/tokenQuotes.js'
import { decryptSecret } from '../tenancy/secrets.js'
import type { Engine } from '../validation/engine.js'
import { formatTokens } from './formatUnits.js'
import { type DecisionSubject, toDecisionRow } from './sponsor/decisionRow.js'
import { givenLimits, limitsToSign } from './sponsor/sponsoredLimits.js'
import { complete, type PaymasterStub, withPaymaster, withSignature } from './sponsoredDraft.js'
import { durationOf, timeRange } from './sponsorshipTerms.js'
import { SIGNER_PURPOSE } from './tank/signForTank.js'
import {
  createTokenEvaluator,
  type EvaluatedPayment,
  type TokenEvaluationContext,
} from './token/evaluateTokenPayment.js'
import { createExposure } from './token/exposure.js'
import { quotedCharge } from './token/quotedOperation.js'
import { signTokenPayment } from './token/signTokenPayment.js'
import { chargeFails, tokenTankEmpty } from './token/tokenRefusals.js'
import type {
  FeeQuote,
  FeeQuotes,
  QuoteRequest,
  TokenPayment,
  TokenRequest,
} from './tokenPayment.js'

export type TokenPaymasterContext = TokenEvaluationContext & {
  readonly masterKey: Buffer
  readonly engine: Pick<Engine, 'execute'>
  readonly logger: Logger
}

/** Takes tokens for gas. All throw a PurserError where they refuse. */
export type TokenPaymaster = {
  /** What an operation would cost in each token. Promises nothing and records nothing. */
  quote(request: QuoteRequest): Promise<FeeQuotes>
  /** Signs, once the operation ran with its charge. Every outcome but bad parameters is recorded. */
  pay(request: TokenRequest): Promise<TokenPayment>
  /** What to estimate with; records nothing. */
  stub(request: TokenRequest): Promise<PaymasterStub>
}

/** One chain's token paymaster. */
export function createTokenPaymaster(context: TokenPaymasterContext): TokenPaymaster {
  const { database, definition, logger, engine, node, prices } = context
  const { chainId, tokens } = definition
  const weigher = createTokenEvaluator(context)
  const exposure = createExposure({ database, node, chainId })

  const requireToken = (address: Address | undefined): TokenDefinition => {
    if (address === undefined) throw new MissingTokenError(tokens)
    const token = tokens.find((each) => each.address === address)
    if (token === undefined) throw new UnsupportedTokenError([address], chainId, tokens)
    return token
  }

  const sign = (
    { tank, unsigned, quote, delegate }: EvaluatedPayment,
    { entryPoint, permit }: TokenRequest,
  ): Operation => {
    const key = decryptSecret(context.masterKey, SIGNER_PURPOSE, tank.signer_key) as Hex
    const op = { ...unsigned, paymaster: tank.address }
    const terms = { quote, permit: quote.mode === 'permit' ? permit : undefined }
    return signTokenPayment(op, entryPoint, chainId, terms, { address: tank.signer, key }, delegate)
  }

  /** The whole operation as it would be sent, with what the tank takes of it. */
  const requireCharge = async (
    entryPoint: EntryPoint,
    signed: Operation,
    token: TokenDefinition,
  ): Promise<void> => {
    const run = await engine.execute(entryPoint, signed)
    if (!run.ok) throw chargeFails(token, run.failure.message)
    if (!run.success) throw chargeFails(token, describeRevert(run.revertData) ?? 'no reason given')
  }

  const book = async (
    weighed: EvaluatedPayment,
    request: TokenRequest,
    token: TokenDefinition,
    subject: DecisionSubject,
    signed: Operation,
  ): Promise<void> => {
    const { quote, maxCharge, maxCost, head, tank, delegate } = weighed
    const { entryPoint, draft, appId } = request
    const { decisionId } = subject
    const { mode, rate, markup, validUntil } = quote
    const message = `Takes at most ${formatTokens(maxCharge, token)} until ${validUntil}.`
    const decision = { decisionId, sponsored: true, code: 'TOKEN_PAYMENT', message }
    const details = {
      token: token.address,
      symbol: token.symbol,
      mode,
      markup,
      tank: tank.address,
      rate: rate.toString(),
      maxCharge: maxCharge.toString(),
      maxCost: maxCost.toString(),
    }
    const userOpHash = entryPoint.hash(signed, chainId, delegate)
    const held = await exposure.heldAt(await context.heads.refresh(), token)
    const reserved = await reserve(
      database,
      {
        request: {
          slot: {
            chainId,
            entryPoint: entryPoint.address,
            appId,
            paymaster: tank.address,
            sender: draft.sender,
            nonce: draft.nonce,
          },
          claim: { maxCost, ofAccount: [], ofApp: undefined },
          head,
          validUntil: BigInt(validUntil),
        },
        decide: () =>
          toDecisionRow(subject, decision, { details }, { userOpHash, maxCost, ...quote }),
        calls: [],
      },
      async (trx) => {
        const { address } = token
        const terms = { chainId, token: address, mode, rate, markup, maxCharge }
        await insertTokenQuote(trx, { decisionId, ...terms })
        await exposure.requireRoom(trx, token, { held, maxCharge, block: head.blockNumber })
      },
    )
    if (reserved.kind === 'short') throw tokenTankEmpty(token.address, tank.address, maxCost)
    if (reserved.kind === 'refused') throw new SponsorshipRefusedError(reserved.refusal)
    logger.info({ appId, ...decision, ...details }, 'token payment signed')
  }

  const recordRefusal = async (subject: DecisionSubject, error: PurserError): Promise<void> => {
    const known = error.data?.code
    const code = typeof known === 'string' ? known : 'ESTIMATION_FAILED'
    const { decisionId, appId } = subject
    const decision = { decisionId, sponsored: false, code, message: error.message }
    await insertDecision(database, toDecisionRow(subject, decision), [])
    logger.info({ appId, ...decision }, 'token payment refused')
  }

  const pay = async (given: TokenRequest): Promise<TokenPayment> => {
    const request = { ...given, draft: withSignature(given.draft) }
    const { appId, entryPoint, draft } = request
    const token = requireToken(request.token)
    durationOf(request.expiryDuration, context.terms)
    const decisionId = randomUUID()
    const subject = { decisionId, appId, chainId, entryPoint: entryPoint.address, draft }
    try {
      const weighed = await weigher.weigh(await weigher.open(request, token))
      const signed = sign(weighed, request)
      await requireCharge(entryPoint, signed, token)
      await book(weighed, request, token, subject, signed)
      const { quote, maxCharge } = weighed
      const { rate, validUntil } = quote
      const paymasterAndData = entryPoint.paymasterAndData(signed)
      const payment = { token, maxCharge, rate, validUntil }
      return { decisionId, operation: signed, paymasterAndData, ...payment }
    } catch (error) {
      if (error instanceof PurserError) await recordRefusal(subject, error)
      throw error
    }
  }

  const stub = async (request: TokenRequest): Promise<PaymasterStub> => {
    const draft = withSignature(request.draft)
    const given = await weigher.open({ ...request, draft }, requireToken(request.token))
    const mode = weigher.firstMode(given)
    if (mode === 'afterwards') weigher.requireApproval(given, undefined)
    return weigher.stubFor(given, mode).stub
  }

  const quoteOne = async (
    token: TokenDefinition,
    measured: Operation,
    { entryPoint }: QuoteRequest,
    range: { validAfter: number; validUntil: number },
  ): Promise<FeeQuote | TokenPriceError> => {
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

  const quote = async (request: QuoteRequest): Promise<FeeQuotes> => {
    const { appId, entryPoint, calculateGasLimits } = request
    const asked = request.tokens
    const chosen =
      asked.length === 0 ? tokens : tokens.filter(({ address }) => asked.includes(address))
    const [first] = chosen
    if (first === undefined) throw new UnsupportedTokenError(asked, chainId, tokens)
    const draft = withPaymaster(withSignature(request.draft), undefined)
    const [tank, estimate, head] = await Promise.all([
      weigher.requireTank(appId, entryPoint, first.address),
      context.estimate(entryPoint, draft),
      context.heads.refresh(),
    ])
    const limits = limitsToSign(givenLimits(draft, calculateGasLimits), estimate)
    const measured = complete(draft, { ...estimate, ...limits })
    const now = Math.floor(Date.now() / 1000)
    const range = timeRange(head.timestamp, now, durationOf(undefined, context.terms))
    const said = await Promise.all(chosen.map((each) => quoteOne(each, measured, request, range)))
    const quotes = said.flatMap((each) => (each instanceof TokenPriceError ? [] : [each]))
    const trouble = said.find((each) => each instanceof TokenPriceError)
    if (quotes.length === 0 && trouble !== undefined) throw trouble
    const quoted = new Set(quotes.map(({ token }) => token.address))
    const unsupported = asked.filter((address) => !quoted.has(address))
    const price = recentPrice(await context.terms.prices(chainId), now, context.terms.maxPriceAge)
    return { paymaster: tank.address, quotes, unsupported, nativePrice: price?.microUsd }
  }

  return { quote, pay, stub }
}

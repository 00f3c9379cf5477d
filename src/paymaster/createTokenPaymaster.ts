import { randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import { PurserError } from '../base/errors/purserError.js'
import { SponsorshipRefusedError } from '../base/errors/sponsorshipErrors.js'
import { countedCode } from '../base/metrics/catalogue.js'
import type { TokenDefinition } from '../chain/definition/tokenDefinition.js'
import type { Operation } from '../erc4337/operation.js'
import { describeRevert } from '../erc4337/revertReason.js'
import { decryptSecret } from '../tenants/secrets.js'
import { createDeposits } from './entryPointDeposit.js'
import { recordRefusedDecision } from './ledger/decisions.js'
import { type DecisionSubject, toDecisionRow } from './sponsor/decisionRow.js'
import { type PaymasterStub, withSignature } from './sponsoredDraft.js'
import { durationOf, quoteTerms } from './sponsorshipTerms.js'
import { createPayers } from './tank/payer.js'
import {
  SIGNER_PURPOSE,
  type SigningDomain,
  signForTank,
  type TankSigner,
} from './tank/signForTank.js'
import type { TankOperation } from './tank/tankTypedData.js'
import { type EvaluatedPayment, evaluateTokenPayment } from './token/evaluateTokenPayment.js'
import { createExposure } from './token/exposure.js'
import { listTokens, quoteTokens, rateTokens } from './token/quoteTokens.js'
import { reserveTokenPayment } from './token/reserveTokenPayment.js'
import { firstMode, openTokenCase, requireToken, stubFor } from './token/tokenCase.js'
import type { TokenParts, TokenPaymasterContext } from './token/tokenContext.js'
import { chargeFails, tokenTankEmpty } from './token/tokenRefusals.js'
import { encodeTokenData, type TokenTerms, tokenPaymentHash } from './tokenData.js'
import type {
  FeeQuotes,
  QuoteRequest,
  RatesRequest,
  TokenList,
  TokenPayment,
  TokenRates,
  TokenRequest,
} from './tokenPayment.js'

/** The paymaster of one chain that takes tokens for gas. Every refusal is a thrown PurserError. */
export type TokenPaymaster = {
  /** The cost of an operation in each token. Promises nothing and records nothing. */
  quote(request: QuoteRequest): Promise<FeeQuotes>
  /** The rates of tokens, without an operation. Promises nothing and records nothing. */
  rates(request: RatesRequest): Promise<TokenRates>
  /** All tokens with their rates, and the tank, before there is an operation. Promises nothing and records nothing. */
  list(request: Omit<RatesRequest, 'tokens'>): Promise<TokenList>
  /**
   * Signs, once the operation ran with its charge. Every outcome but bad parameters is recorded.
   */
  pay(request: TokenRequest): Promise<TokenPayment>
  /**
   * The paymaster's part to estimate with; records nothing. It needs no approval, because clients learn
   * from it which tank to approve.
   */
  stub(request: TokenRequest): Promise<PaymasterStub>
}

/** Makes one chain's token paymaster. */
export function createTokenPaymaster(context: TokenPaymasterContext): TokenPaymaster {
  const { database, node, definition } = context
  const parts: TokenParts = {
    ...context,
    terms: quoteTerms(context.terms),
    payers: createPayers(context),
    depositAt: createDeposits(node),
    exposure: createExposure({ database, node, chainId: definition.chainId }),
  }
  return {
    quote: (request) => quoteTokens(parts, signable(request)),
    rates: (request) => rateTokens(parts, request),
    list: (request) => listTokens(parts, request),
    pay: (request) => pay(parts, signable(request)),
    stub: (request) => stubOf(parts, signable(request)),
  }
}

function signable<Request extends QuoteRequest | TokenRequest>(request: Request): Request {
  return { ...request, draft: withSignature(request.draft) }
}

async function pay(parts: TokenParts, request: TokenRequest): Promise<TokenPayment> {
  const { appId, entryPoint, draft } = request
  const { chainId } = parts.definition
  const token = requireToken(parts, request.token)
  durationOf(request.expiryDuration, parts.terms)
  const decisionId = randomUUID()
  const subject = { decisionId, appId, chainId, entryPoint: entryPoint.address, draft }
  try {
    const payment = await openTokenCase(parts, request, token)
    const evaluated = await evaluateTokenPayment(parts, payment)
    const signed = sign(parts, evaluated, request)
    await requireCharge(parts, request, signed, token)
    const { quote, tank, maxCharge, maxCost } = evaluated
    const signedPayment = { evaluated, signed, token, subject }
    const { reserved, ...record } = await reserveTokenPayment(parts, request, signedPayment)
    if (reserved.kind === 'short') throw tokenTankEmpty(token.address, tank.address, maxCost)
    if (reserved.kind === 'refused') throw new SponsorshipRefusedError(reserved.refusal)
    const { decision, details, userOpHash: op } = record
    parts.metrics.count('purser_decisions_total', { code: countedCode(decision.code) })
    parts.logger.info({ appId, op, ...decision, ...details }, 'token payment signed')
    const { rate, validUntil } = quote
    const paymasterAndData = entryPoint.paymasterAndData(signed)
    const terms = { token, maxCharge, rate, validUntil }
    return { decisionId, operation: signed, paymasterAndData, ...terms }
  } catch (error) {
    if (error instanceof PurserError) await recordRefusal(parts, subject, error)
    throw error
  }
}

async function stubOf(parts: TokenParts, request: TokenRequest): Promise<PaymasterStub> {
  const payment = await openTokenCase(parts, request, requireToken(parts, request.token))
  return stubFor(payment, firstMode(payment)).stub
}

function sign(
  { masterKey, definition: { chainId } }: TokenParts,
  { tank, unsigned, quote, delegate }: EvaluatedPayment,
  { entryPoint, permit }: TokenRequest,
): Operation {
  const key = decryptSecret(masterKey, SIGNER_PURPOSE, tank.signer_key) as Hex
  const op = { ...unsigned, paymaster: tank.address }
  const terms = { quote, permit: quote.mode === 'permit' ? permit : undefined }
  const domain = { entryPoint, chainId, delegate }
  return signTokenPayment(op, domain, terms, { address: tank.signer, key })
}

/**
 * Simulates the whole operation as it would be sent. Throws CHARGE_FAILS where the tank gets
 * nothing.
 */
async function requireCharge(
  { engine }: TokenParts,
  { entryPoint, requester }: TokenRequest,
  signed: Operation,
  token: TokenDefinition,
): Promise<void> {
  const run = await engine.by(requester).execute(entryPoint, signed)
  if (!run.ok) throw chargeFails(token, run.failure.message)
  if (run.success) return
  const silent = `the call reverted without a reason, as it does when callGasLimit ${signed.callGasLimit} is too low`
  throw chargeFails(token, describeRevert(run.revertData) ?? silent)
}

async function recordRefusal(
  parts: TokenParts,
  subject: DecisionSubject,
  error: PurserError,
): Promise<void> {
  const known = error.data?.code
  const code = typeof known === 'string' ? known : 'ESTIMATION_FAILED'
  const { decisionId, appId } = subject
  const decision = { decisionId, sponsored: false, code, message: error.message }
  await recordRefusedDecision(parts, toDecisionRow(subject, decision), [])
  parts.logger.info({ appId, ...decision }, 'token payment refused')
}

/**
 * `op`, which names its token tank as paymaster, with the tank's paymasterData. On v0.7 and later
 * its paymasterPostOpGasLimit must be the quote's postOpGas, or the tank would revert: throws
 * RangeError.
 */
export function signTokenPayment(
  op: TankOperation,
  { entryPoint, chainId, delegate }: SigningDomain,
  terms: TokenTerms,
  signer: TankSigner,
): Operation {
  const { quote, permit } = terms
  if (entryPoint.hasPaymasterLimits && op.paymasterPostOpGasLimit !== quote.postOpGas) {
    throw new RangeError("The quote must be for the operation's paymasterPostOpGasLimit.")
  }
  const hash = tokenPaymentHash(op, entryPoint, chainId, terms, delegate)
  const signature = signForTank(hash, op.paymaster, signer)
  return { ...op, paymasterData: encodeTokenData({ quote, signature, permit }) }
}

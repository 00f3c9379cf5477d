import { randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import type { TokenDefinition } from '../chain/definition/tokenDefinition.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { describeRevert } from '../entrypoint/revertReason.js'
import { PurserError } from '../errors/purserError.js'
import { SponsorshipRefusedError } from '../errors/sponsorshipErrors.js'
import { insertDecision } from '../store/ledger/decisions.js'
import { decryptSecret } from '../tenancy/secrets.js'
import { createDeposits } from './entryPointDeposit.js'
import { type DecisionSubject, toDecisionRow } from './sponsor/decisionRow.js'
import { type PaymasterStub, withSignature } from './sponsoredDraft.js'
import { durationOf, quoteTerms } from './sponsorshipTerms.js'
import { createPayers } from './tank/payer.js'
import { SIGNER_PURPOSE } from './tank/signForTank.js'
import { type EvaluatedPayment, evaluateTokenPayment } from './token/evaluateTokenPayment.js'
import { createExposure } from './token/exposure.js'
import { quoteTokens } from './token/quoteTokens.js'
import { rateTokens } from './token/rateTokens.js'
import { reserveTokenPayment } from './token/reserveTokenPayment.js'
import { signTokenPayment } from './token/signTokenPayment.js'
import { firstMode, openTokenCase, requireToken, stubFor } from './token/tokenCase.js'
import type { TokenParts, TokenPaymasterContext } from './token/tokenContext.js'
import { chargeFails, tokenTankEmpty } from './token/tokenRefusals.js'
import type {
  FeeQuotes,
  QuoteRequest,
  RatesRequest,
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
    await requireCharge(parts, entryPoint, signed, token)
    const { quote, tank, maxCharge, maxCost } = evaluated
    const signedPayment = { evaluated, signed, token, subject }
    const { reserved, ...record } = await reserveTokenPayment(parts, request, signedPayment)
    if (reserved.kind === 'short') throw tokenTankEmpty(token.address, tank.address, maxCost)
    if (reserved.kind === 'refused') throw new SponsorshipRefusedError(reserved.refusal)
    const { decision, details, userOpHash: op } = record
    parts.onDecided?.(decision.code)
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
  const domain = { entryPoint, chainId, contract: tank.contract, delegate }
  return signTokenPayment(op, domain, terms, { address: tank.signer, key })
}

/**
 * Simulates the whole operation as it would be sent. Throws CHARGE_FAILS where the tank gets
 * nothing.
 */
async function requireCharge(
  { engine }: TokenParts,
  entryPoint: EntryPoint,
  signed: Operation,
  token: TokenDefinition,
): Promise<void> {
  const run = await engine.execute(entryPoint, signed)
  if (!run.ok) throw chargeFails(token, run.failure.message)
  if (run.success) return
  const silent = `the call reverted without a reason, as it does when callGasLimit ${signed.callGasLimit} is too low`
  throw chargeFails(token, describeRevert(run.revertData) ?? silent)
}

async function recordRefusal(
  { database, logger, onDecided }: TokenParts,
  subject: DecisionSubject,
  error: PurserError,
): Promise<void> {
  const known = error.data?.code
  const code = typeof known === 'string' ? known : 'ESTIMATION_FAILED'
  const { decisionId, appId } = subject
  const decision = { decisionId, sponsored: false, code, message: error.message }
  await database
    .transaction()
    .execute((trx) => insertDecision(trx, toDecisionRow(subject, decision), []))
  onDecided?.(code)
  logger.info({ appId, ...decision }, 'token payment refused')
}

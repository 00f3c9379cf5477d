import type { Address } from 'viem'
import { toFunctionSelector } from 'viem/utils'
import { unixNow } from '../../base/unixNow.js'
import type { ChainDefinition } from '../../chain/definition.js'
import { delegateToHash } from '../../chain/delegations.js'
import type { FeeAdvice } from '../../chain/feeAdvice.js'
import type { HeadFollower } from '../../chain/headFollower.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { TokenDefinition } from '../../chain/tokenDefinition.js'
import { zeroAddress } from '../../encoding/constants.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { PurserError } from '../../errors/purserError.js'
import { TokenPaymentError } from '../../errors/tokenErrors.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'
import { checkFees } from '../../policy/feeRule.js'
import { checkGas } from '../../policy/gasRule.js'
import type { Refusal } from '../../policy/refusal.js'
import type { Prices } from '../../prices/createPrices.js'
import type { Database } from '../../store/database.js'
import type { DepositAtHead } from '../../store/ledger/reservations.js'
import type { StoredTank } from '../../store/ledger/tanks.js'
import { lastMissed } from '../../store/ledger/tokenPayments.js'
import { createDeposits } from '../entryPointDeposit.js'
import { givenLimits, limitsToSign } from '../sponsor/sponsoredLimits.js'
import { complete, withPaymaster } from '../sponsoredDraft.js'
import { durationOf, type SponsorshipTerms, timeRange } from '../sponsorshipTerms.js'
import { createPayers } from '../tank/payer.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'
import type { TokenRequest } from '../tokenPayment.js'
import { approvedBy } from './approvals.js'
import { type Holdings, movesExactly, readHoldings } from './holdings.js'
import { maxTokenCharge } from './tokenCharge.js'
import { tokenPostOpGas } from './tokenGas.js'
import {
  allowanceTooLow,
  balanceTooLow,
  chargeFails,
  noTokenTank,
  notExact,
  struck,
  tokenTankEmpty,
} from './tokenRefusals.js'
import { tokenStub } from './tokenStub.js'

export type TokenEvaluationContext = {
  readonly database: Database
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'refresh'>
  readonly definition: Pick<
    ChainDefinition,
    'chainId' | 'tokens' | 'strikeSeconds' | 'maxVerificationGas' | 'maxBundleGas'
  >
  readonly prices: Prices
  readonly terms: SponsorshipTerms
  estimate(entryPoint: EntryPoint, draft: Draft): Promise<GasEstimate>
  fees(): Promise<FeeAdvice>
}

/** An operation with a token to pay for it, and the tank that would take it. */
export type TokenCase = {
  readonly request: TokenRequest
  readonly token: TokenDefinition
  readonly tank: StoredTank
  readonly holdings: Holdings
  /** The quote, but for how the tokens are taken. */
  readonly terms: Omit<TokenQuote, 'mode' | 'postOpGas'>
}

type Proposal = {
  readonly quote: TokenQuote
  readonly unsigned: Operation
  /** Smallest token units. */
  readonly maxCharge: bigint
}

/** All but signature, run and books. */
export type EvaluatedPayment = Proposal & {
  readonly tank: StoredTank
  readonly delegate: Address | undefined
  /** wei that the deposit may lose */
  readonly maxCost: bigint
  readonly head: DepositAtHead
}

/** Looks at one operation and one token. Each function throws the PurserError that refuses. */
export function createTokenEvaluator(context: TokenEvaluationContext) {
  const { database, node, definition, prices } = context
  const { chainId, strikeSeconds } = definition
  const { findTokenTank } = createPayers(context)
  const depositAt = createDeposits(node)

  const requireTank = async (
    appId: string,
    entryPoint: EntryPoint,
    token: Address,
  ): Promise<StoredTank> => {
    const tank = await findTokenTank(appId, entryPoint)
    if (tank === undefined) throw noTokenTank(token, chainId, entryPoint)
    return tank
  }

  const open = async (request: TokenRequest, token: TokenDefinition): Promise<TokenCase> => {
    const { appId, entryPoint, draft, expiryDuration } = request
    const duration = durationOf(expiryDuration, context.terms)
    const [tank, rate, head] = await Promise.all([
      requireTank(appId, entryPoint, token.address),
      prices.rate(token),
      context.heads.refresh(),
    ])
    const holdings = await readHoldings(node, token.address, draft.sender, tank.address)
    const { markup, treasury = zeroAddress } = token
    const range = timeRange(head.timestamp, unixNow(), duration)
    const terms = { token: token.address, rate, markup, treasury, ...range }
    return { request, token, tank, holdings, terms }
  }

  /** The first way to try. A permit was made to be used; an allowance may turn out too small. */
  const firstMode = ({ request, holdings }: TokenCase): TokenMode => {
    if (request.permit !== undefined) return 'permit'
    return holdings.allowance > 0n ? 'prefund' : 'afterwards'
  }

  const stubFor = (given: TokenCase, mode: TokenMode) => {
    const { tank, terms, request, token } = given
    const { entryPoint, draft } = request
    const perCall = token.extraCallGas
    const quote = { ...terms, mode, postOpGas: tokenPostOpGas({ ...terms, mode }, perCall) }
    const permit = mode === 'permit' ? request.permit : undefined
    return { quote, stub: tokenStub(tank.address, { quote, permit, perCall }, entryPoint, draft) }
  }

  const propose = async (given: TokenCase, mode: TokenMode): Promise<Proposal> => {
    const { entryPoint, draft, calculateGasLimits } = given.request
    const { quote, stub } = stubFor(given, mode)
    const stubbed = withPaymaster(draft, stub)
    const estimate = await context.estimate(entryPoint, stubbed).catch((error: unknown) => {
      throw isRefusedCharge(error)
        ? chargeFails(given.token, 'too little is left or approved')
        : error
    })
    const limits = limitsToSign(givenLimits(draft, calculateGasLimits), estimate)
    const unsigned = complete(stubbed, { ...estimate, ...limits })
    const gas = { ...limits, bundleGas: entryPoint.bundleGas(unsigned) }
    refuseBy(checkGas(gas, estimate.preVerificationGas, definition), given.token)
    return { quote, unsigned, maxCharge: maxTokenCharge(unsigned, entryPoint, quote) }
  }

  /** What the operation approves must do for the most that it may cost, where that can be read. */
  const requireApproval = (
    { request: { draft }, token, tank, holdings: { allowance } }: TokenCase,
    maxCharge: bigint | undefined,
  ): void => {
    const approved = approvedBy(draft.callData, token.address, tank.address, allowance)
    if (approved !== undefined && approved < (maxCharge ?? 1n))
      throw allowanceTooLow(token, tank.address, approved, maxCharge)
  }

  const requireNoStrike = async ({ request, token }: TokenCase): Promise<void> => {
    const length = strikeSeconds * 1_000
    const since = new Date(Date.now() - length)
    const missed = await lastMissed(database, chainId, request.draft.sender, since)
    if (missed !== undefined) throw struck(token, new Date(missed.getTime() + length))
  }

  /** With an allowance that suffices the tokens are taken beforehand, else by what the calls approve. */
  const chooseMode = async (given: TokenCase): Promise<Proposal> => {
    const first = firstMode(given)
    if (first !== 'afterwards') {
      const proposal = await propose(given, first)
      const suffices = first === 'permit' || given.holdings.allowance >= proposal.maxCharge
      if (suffices) return proposal
      requireApproval(given, proposal.maxCharge)
    }
    await requireNoStrike(given)
    requireApproval(given, undefined)
    const proposal = await propose(given, 'afterwards')
    requireApproval(given, proposal.maxCharge)
    return proposal
  }

  const weigh = async (given: TokenCase): Promise<EvaluatedPayment> => {
    const { request, token, tank, holdings } = given
    const { entryPoint, draft } = request
    const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = draft
    const { fast } = await context.fees()
    refuseBy(checkFees({ maxFeePerGas, maxPriorityFeePerGas }, fast, context.terms), token)
    if (holdings.balance === 0n) throw balanceTooLow(token, 0n, 1n)
    const proposal = await chooseMode(given)
    const { unsigned, maxCharge, quote } = proposal
    if (holdings.balance < maxCharge) throw balanceTooLow(token, holdings.balance, maxCharge)
    const to = quote.treasury === zeroAddress ? tank.address : quote.treasury
    const transfer = { holder: draft.sender, to, amount: maxCharge }
    const head = await context.heads.refresh()
    const [exact, deposit, delegate] = await Promise.all([
      movesExactly(node, token.address, transfer),
      depositAt(head, entryPoint.address, tank.address),
      delegateToHash(node, draft),
    ])
    if (!exact) throw notExact(token)
    const prefund = entryPoint.requiredPrefund(unsigned)
    if (deposit < prefund) throw tokenTankEmpty(token.address, tank.address, prefund)
    const maxCost = entryPoint.chargeableGas(unsigned) * unsigned.maxFeePerGas
    const { number: blockNumber, timestamp } = head
    return { ...proposal, tank, delegate, maxCost, head: { deposit, blockNumber, timestamp } }
  }

  return { open, firstMode, stubFor, weigh, requireTank, requireApproval }
}

/** Of the tank's postOp in mode `afterwards`. */
const refusedCharge = toFunctionSelector('PaymentRefused(address,address,uint256)').slice(2)

function isRefusedCharge(error: unknown): boolean {
  return error instanceof PurserError && String(error.data?.revertData).includes(refusedCharge)
}

function refuseBy(refusal: Refusal | undefined, { address }: TokenDefinition): void {
  if (refusal !== undefined) throw new TokenPaymentError('TERMS_REFUSED', refusal.message, address)
}

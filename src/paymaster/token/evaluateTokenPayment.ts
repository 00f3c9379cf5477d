import type { Address } from 'viem'
import { toFunctionSelector } from 'viem/utils'
import type { Refusal } from '../../base/errors/catalogue.js'
import { PaymasterRejectedError } from '../../base/errors/operationErrors.js'
import { PurserError } from '../../base/errors/purserError.js'
import { TokenPaymentError } from '../../base/errors/sponsorshipErrors.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { delegateToHash } from '../../chain/delegations.js'
import { mostBid } from '../../chain/fees.js'
import { zeroAddress } from '../../erc4337/encoding/constants.js'
import type { Operation } from '../../erc4337/operation.js'
import type { DepositAtHead } from '../ledger/reservations.js'
import type { StoredTank } from '../ledger/tanks.js'
import { lastMissed } from '../ledger/tokenPayments.js'
import { checkFees } from '../policy/checkFees.js'
import { checkGas, VERIFICATION_FLOOR } from '../policy/checkGas.js'
import { givenLimits, limitsToSign } from '../sponsor/sponsoredLimits.js'
import { complete, withPaymaster } from '../sponsoredDraft.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'
import { movesExactly } from './holdings.js'
import { quoteTokens } from './quoteTokens.js'
import { firstMode, refusedCharge, requireApproval, stubFor, type TokenCase } from './tokenCase.js'
import { maxTokenCharge } from './tokenCharge.js'
import type { TokenParts } from './tokenContext.js'
import { balanceTooLow, notExact, senderDefaulted, tokenTankEmpty } from './tokenRefusals.js'

/** A token payment that still lacks its signature, its simulation and its reservation. */
export type EvaluatedPayment = ProposedPayment & {
  readonly tank: StoredTank
  /** The address that the sender's code points to (EIP-7702), where the operation does not say. */
  readonly delegate: Address | undefined
  /** wei that the deposit may lose */
  readonly maxCost: bigint
  readonly head: DepositAtHead
}

/** Checks fees, tokens and the tank's deposit. Throws the PurserError that refuses the payment. */
export async function evaluateTokenPayment(
  parts: TokenParts,
  payment: TokenCase,
): Promise<EvaluatedPayment> {
  const { request, token, tank, holdings } = payment
  const { entryPoint, draft } = request
  const { maxFeePerGas = 0n, maxPriorityFeePerGas = 0n } = draft
  const { fast } = await parts.fees()
  const bid = { maxFeePerGas, maxPriorityFeePerGas }
  refuseBy(checkFees(bid, mostBid(parts.node, fast), parts.terms), token)
  if (holdings.balance === 0n) await requireBalance(parts, payment)
  const proposal = await proposeTokenPayment(parts, payment)
  const { unsigned, maxCharge, quote } = proposal
  if (holdings.balance < maxCharge) throw balanceTooLow(token, holdings.balance, maxCharge)
  const to = quote.treasury === zeroAddress ? tank.address : quote.treasury
  const transfer = { holder: draft.sender, to, amount: maxCharge }
  const head = await parts.heads.refresh()
  const [exact, deposit, delegate] = await Promise.all([
    movesExactly(parts.node, token.address, transfer),
    parts.depositAt(head, entryPoint.address, tank.address),
    delegateToHash(parts.node, draft),
  ])
  if (!exact) throw notExact(token)
  const prefund = entryPoint.requiredPrefund(unsigned)
  if (deposit < prefund) throw tokenTankEmpty(token.address, tank.address, prefund)
  const maxCost = entryPoint.chargeableGas(unsigned) * unsigned.maxFeePerGas
  const { number: blockNumber, timestamp } = head
  return { ...proposal, tank, delegate, maxCost, head: { deposit, blockNumber, timestamp } }
}

/** A quote for an operation whose gas is known, before anything is signed. */
type ProposedPayment = {
  readonly quote: TokenQuote
  readonly unsigned: Operation
  /** Smallest token units. */
  readonly maxCharge: bigint
}

/**
 * The payment in the best mode: beforehand, where an allowance or a permit suffices, else by the
 * approvals in the operation's calls. Throws the PurserError that refuses it.
 */
async function proposeTokenPayment(
  parts: TokenParts,
  payment: TokenCase,
): Promise<ProposedPayment> {
  const first = firstMode(payment)
  if (first !== 'afterwards') {
    const proposal = await proposeIn(first, parts, payment)
    const suffices = first === 'permit' || payment.holdings.allowance >= proposal.maxCharge
    if (suffices) return proposal
    requireApproval(payment, proposal.maxCharge)
  }
  await requireNoPaymentDefault(parts, payment)
  requireApproval(payment, undefined)
  const proposal = await proposeIn('afterwards', parts, payment)
  requireApproval(payment, proposal.maxCharge)
  return proposal
}

async function proposeIn(
  mode: TokenMode,
  parts: TokenParts,
  payment: TokenCase,
): Promise<ProposedPayment> {
  const { request, token } = payment
  const { entryPoint, draft, calculateGasLimits, requester } = request
  const { quote, stub } = stubFor(payment, mode)
  const stubbed = withPaymaster(draft, stub)
  const estimate = await parts
    .estimate(entryPoint, stubbed, { requester })
    .catch(async (error: unknown) => {
      // The tank refuses a sender that has less than the stub names, and its sentence knows no charge.
      if (error instanceof PaymasterRejectedError) await requireBalance(parts, payment)
      throw isRefusedCharge(error) ? refusedCharge(payment, quote.postOpGas) : error
    })
  const limits = limitsToSign(givenLimits(draft, calculateGasLimits), estimate)
  const unsigned = complete(stubbed, { ...estimate, ...limits })
  const gas = { ...limits, bundleGas: entryPoint.bundleGas(unsigned) }
  refuseBy(checkGas(gas, estimate, parts.definition, VERIFICATION_FLOOR), token)
  return { quote, unsigned, maxCharge: maxTokenCharge(unsigned, entryPoint, quote) }
}

/**
 * Requires that the sender has the tokens of a quote, which is measured as if it had them. Throws TokenPaymentError
 * (TOKEN_BALANCE_TOO_LOW) with the charge.
 */
async function requireBalance(
  parts: TokenParts,
  { request, token, holdings }: TokenCase,
): Promise<void> {
  const { quotes } = await quoteTokens(parts, { ...request, tokens: [token.address] })
  const charge = quotes[0]?.maxCharge ?? 1n
  if (holdings.balance < charge) throw balanceTooLow(token, holdings.balance, charge)
}

/** Requires that no recent payment of the sender failed. Throws SENDER_DEFAULTED. */
async function requireNoPaymentDefault(
  { database, definition: { chainId, paymentDefaultSeconds } }: TokenParts,
  { request, token }: TokenCase,
): Promise<void> {
  const length = paymentDefaultSeconds * 1_000
  const since = new Date(Date.now() - length)
  const missed = await lastMissed(database, chainId, request.draft.sender, since)
  if (missed !== undefined) throw senderDefaulted(token, new Date(missed.getTime() + length))
}

/** The error of the tank's postOp in mode `afterwards`, without `0x`. */
const paymentRefused = toFunctionSelector('PaymentRefused(address,address,uint256)').slice(2)

function isRefusedCharge(error: unknown): boolean {
  return error instanceof PurserError && String(error.data?.revertData).includes(paymentRefused)
}

/**
 * Throws the refusal of an operator's bound, if there is one, as TokenPaymentError (TERMS_REFUSED).
 */
function refuseBy(refusal: Refusal | undefined, { address }: TokenDefinition): void {
  if (refusal !== undefined) throw new TokenPaymentError('TERMS_REFUSED', refusal.message, address)
}

import { toFunctionSelector } from 'viem/utils'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import type { Operation } from '../../entrypoint/operation.js'
import { PurserError } from '../../errors/purserError.js'
import type { Refusal } from '../../errors/refusal.js'
import { TokenPaymentError } from '../../errors/tokenErrors.js'
import { checkGas } from '../../policy/checkGas.js'
import { lastMissed } from '../../store/ledger/tokenPayments.js'
import { givenLimits, limitsToSign } from '../sponsor/sponsoredLimits.js'
import { complete, withPaymaster } from '../sponsoredDraft.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'
import { firstMode, refusedCharge, requireApproval, stubFor, type TokenCase } from './tokenCase.js'
import { maxTokenCharge } from './tokenCharge.js'
import type { TokenParts } from './tokenContext.js'
import { struck } from './tokenRefusals.js'

/** A quote for an operation whose gas is known, before anything is signed. */
export type ProposedPayment = {
  readonly quote: TokenQuote
  readonly unsigned: Operation
  /** Smallest token units. */
  readonly maxCharge: bigint
}

/**
 * The payment in the best mode: beforehand, where an allowance or a permit suffices, else by the
 * approvals in the operation's calls. Throws the PurserError that refuses it.
 */
export async function proposeTokenPayment(
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
  await requireNoStrike(parts, payment)
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
  const { entryPoint, draft, calculateGasLimits } = request
  const { quote, stub } = stubFor(payment, mode)
  const stubbed = withPaymaster(draft, stub)
  const estimate = await parts.estimate(entryPoint, stubbed).catch((error: unknown) => {
    throw isRefusedCharge(error) ? refusedCharge(payment) : error
  })
  const limits = limitsToSign(givenLimits(draft, calculateGasLimits), estimate)
  const unsigned = complete(stubbed, { ...estimate, ...limits })
  const gas = { ...limits, bundleGas: entryPoint.bundleGas(unsigned) }
  refuseBy(checkGas(gas, estimate, parts.definition), token)
  return { quote, unsigned, maxCharge: maxTokenCharge(unsigned, entryPoint, quote) }
}

/** Requires that the sender has not lately failed to leave the tokens. Throws SENDER_STRUCK. */
async function requireNoStrike(
  { database, definition: { chainId, strikeSeconds } }: TokenParts,
  { request, token }: TokenCase,
): Promise<void> {
  const length = strikeSeconds * 1_000
  const since = new Date(Date.now() - length)
  const missed = await lastMissed(database, chainId, request.draft.sender, since)
  if (missed !== undefined) throw struck(token, new Date(missed.getTime() + length))
}

/** The error of the tank's postOp in mode `afterwards`, without `0x`. */
const paymentRefused = toFunctionSelector('PaymentRefused(address,address,uint256)').slice(2)

function isRefusedCharge(error: unknown): boolean {
  return error instanceof PurserError && String(error.data?.revertData).includes(paymentRefused)
}

/**
 * Throws the refusal of an operator's bound, if there is one, as TokenPaymentError (TERMS_REFUSED).
 */
export function refuseBy(refusal: Refusal | undefined, { address }: TokenDefinition): void {
  if (refusal !== undefined) throw new TokenPaymentError('TERMS_REFUSED', refusal.message, address)
}

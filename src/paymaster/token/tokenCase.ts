import type { Address } from 'viem'
import { unixNow } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { zeroAddress } from '../../encoding/constants.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import {
  MissingTokenError,
  type TokenPaymentError,
  UnsupportedTokenError,
} from '../../errors/tokenErrors.js'
import type { StoredTank } from '../../store/ledger/tanks.js'
import { durationOf, timeRange } from '../sponsorshipTerms.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'
import type { TokenRequest } from '../tokenPayment.js'
import { approvedBy } from './approvals.js'
import { type Holdings, readHoldings } from './holdings.js'
import type { TokenParts } from './tokenContext.js'
import { tokenPostOpGas } from './tokenGas.js'
import { allowanceTooLow, chargeFails, noTokenTank } from './tokenRefusals.js'
import { tokenStub } from './tokenStub.js'

/** An operation with a token to pay for it, and the tank that would take the token. */
export type TokenCase = {
  readonly request: TokenRequest
  readonly token: TokenDefinition
  readonly tank: StoredTank
  readonly holdings: Holdings
  /** The terms of the quote, before it is known how the tokens are taken. */
  readonly terms: Omit<TokenQuote, 'mode' | 'postOpGas'>
}

/** The token that a request names. Throws MissingTokenError, UnsupportedTokenError. */
export function requireToken(
  { definition: { chainId, tokens } }: TokenParts,
  address: Address | undefined,
): TokenDefinition {
  if (address === undefined) throw new MissingTokenError(tokens)
  const token = tokens.find((each) => each.address === address)
  if (token === undefined) throw new UnsupportedTokenError([address], chainId, tokens)
  return token
}

/** The tank that takes tokens for an app. Throws TokenPaymentError (NO_TOKEN_TANK). */
export async function requireTokenTank(
  { payers, definition: { chainId } }: TokenParts,
  appId: string,
  entryPoint: EntryPoint,
  token: Address,
): Promise<StoredTank> {
  const tank = await payers.findTokenTank(appId, entryPoint)
  if (tank === undefined) throw noTokenTank(token, chainId, entryPoint)
  return tank
}

/** Reads tank, price and holdings for a request. Throws the PurserError that refuses it. */
export async function openTokenCase(
  parts: TokenParts,
  request: TokenRequest,
  token: TokenDefinition,
): Promise<TokenCase> {
  const { appId, entryPoint, draft, expiryDuration } = request
  const duration = durationOf(expiryDuration, parts.terms)
  const [tank, rate, head] = await Promise.all([
    requireTokenTank(parts, appId, entryPoint, token.address),
    parts.prices.rate(token),
    parts.heads.refresh(),
  ])
  const holdings = await readHoldings(parts.node, token.address, draft.sender, tank.address)
  const { markup, treasury = zeroAddress } = token
  const range = timeRange(head.timestamp, unixNow(), duration)
  const terms = { token: token.address, rate, markup, treasury, ...range }
  return { request, token, tank, holdings, terms }
}

/** The mode to try first. A permit was made to be used; an allowance may turn out too small. */
export function firstMode({ request, holdings }: TokenCase): TokenMode {
  if (request.permit !== undefined) return 'permit'
  return holdings.allowance > 0n ? 'prefund' : 'afterwards'
}

/** The quote in `mode`, and the paymaster's part of the operation to estimate with. */
export function stubFor({ tank, terms, request, token }: TokenCase, mode: TokenMode) {
  const { entryPoint, draft } = request
  const perCall = token.extraCallGas
  const quote = { ...terms, mode, postOpGas: tokenPostOpGas({ ...terms, mode }, perCall) }
  const permit = mode === 'permit' ? request.permit : undefined
  return { quote, stub: tokenStub(tank.address, { quote, permit, perCall }, entryPoint, draft) }
}

/**
 * Requires that the approvals in the operation's calls suffice for `maxCharge` token units (undefined =
 * not known yet, so for anything at all), where its call data can be read. An operation with init data
 * and no approval in its calls is not judged: its deployment may approve the tank, as a Safe's setup
 * does, which only a run shows. Throws TokenPaymentError (TOKEN_ALLOWANCE_TOO_LOW).
 */
export function requireApproval(payment: TokenCase, maxCharge: bigint | undefined): void {
  const { request, token, tank, holdings } = payment
  const approved = approvedInCalls(payment)
  if (approved === undefined || approved >= (maxCharge ?? 1n)) return
  const mayBeApprovedBefore = request.draft.factoryData !== '0x'
  if (mayBeApprovedBefore && approved === holdings.allowance) return
  throw allowanceTooLow(token, tank.address, approved, maxCharge)
}

/**
 * The refusal of an operation whose run left the tank no charge: for want of an approval, where its calls
 * show none, else for another reason.
 */
export function refusedCharge(payment: TokenCase): TokenPaymentError {
  const { token, tank } = payment
  return approvedInCalls(payment) === 0n
    ? allowanceTooLow(token, tank.address, 0n, undefined)
    : chargeFails(token, 'too little is left or approved')
}

function approvedInCalls({ request: { draft }, token, tank, holdings }: TokenCase) {
  return approvedBy(draft.callData, token.address, tank.address, holdings.allowance)
}

import type { Address } from 'viem'
import { unixNow } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { zeroAddress } from '../../encoding/constants.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { MissingTokenError, UnsupportedTokenError } from '../../errors/tokenErrors.js'
import type { StoredTank } from '../../store/ledger/tanks.js'
import { durationOf, timeRange } from '../sponsorshipTerms.js'
import type { TokenMode, TokenQuote } from '../tokenData.js'
import type { TokenRequest } from '../tokenPayment.js'
import { approvedBy } from './approvals.js'
import { type Holdings, readHoldings } from './holdings.js'
import type { TokenParts } from './tokenContext.js'
import { tokenPostOpGas } from './tokenGas.js'
import { allowanceTooLow, noTokenTank } from './tokenRefusals.js'
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
 * Requires that the operation's approvals suffice for `maxCharge` token units (undefined = not
 * known yet, so for anything at all), where its call data can be read. Throws TokenPaymentError
 * (TOKEN_ALLOWANCE_TOO_LOW).
 */
export function requireApproval(
  { request: { draft }, token, tank, holdings: { allowance } }: TokenCase,
  maxCharge: bigint | undefined,
): void {
  const approved = approvedBy(draft.callData, token.address, tank.address, allowance)
  if (approved !== undefined && approved < (maxCharge ?? 1n))
    throw allowanceTooLow(token, tank.address, approved, maxCharge)
}

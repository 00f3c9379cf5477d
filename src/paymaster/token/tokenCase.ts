import type { Address, Hex } from 'viem'
import {
  MissingTokenError,
  type TokenPaymentError,
  UnsupportedTokenError,
} from '../../base/errors/sponsorshipErrors.js'
import { unixNow } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import { readAbi } from '../../erc4337/encoding/abiReader.js'
import { MAX_UINT256, zeroAddress } from '../../erc4337/encoding/constants.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { placeholderOfWidth, stubSignature } from '../../gas/placeholder.js'
import type { StoredTank } from '../ledger/tanks.js'
import { decodeCalls, isNesting } from '../policy/decodeCalls.js'
import type { DraftBytes, PaymasterStub } from '../sponsoredDraft.js'
import { durationOf, timeRange } from '../sponsorshipTerms.js'
import {
  encodeTokenData,
  type Permit,
  parseTokenData,
  type TokenMode,
  type TokenQuote,
} from '../tokenData.js'
import type { TokenRequest } from '../tokenPayment.js'
import { type Holdings, readHoldings } from './holdings.js'
import { tokenPostOpGas, tokenVerificationGas } from './tokenCharge.js'
import type { TokenParts } from './tokenContext.js'
import { allowanceTooLow, chargeFails, noTokenTank } from './tokenRefusals.js'

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
  const quote = {
    ...terms,
    mode,
    postOpGas: tokenPostOpGas(entryPoint, { ...terms, mode }, perCall),
  }
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
 * The refusal of an operation whose run left the tank no charge: for lack of an approval, where its calls
 * show none, else for another reason.
 */
export function refusedCharge(payment: TokenCase, postOpGas: bigint): TokenPaymentError {
  const { token, tank } = payment
  return approvedInCalls(payment) === 0n
    ? allowanceTooLow(token, tank.address, 0n, undefined)
    : chargeFails(
        token,
        `too little is left or approved, or the ${postOpGas} gas of the tank's postOp are too few for ${token.symbol} on this chain (then the operator raises its extraCallGas)`,
      )
}

function approvedInCalls({ request: { draft }, token, tank, holdings }: TokenCase) {
  return approvedBy(draft.callData, token.address, tank.address, holdings.allowance)
}

/** approve(address,uint256) and increaseAllowance(address,uint256) */
const APPROVE = '0x095ea7b3'
const INCREASE_ALLOWANCE = '0x39509351'

/**
 * The token units that `spender` may take of `token` after the account's calls, given the allowance
 * before them; undefined where the calls cannot be read, so that only running them shows it.
 */
export function approvedBy(
  callData: Hex,
  token: Address,
  spender: Address,
  allowance: bigint,
): bigint | undefined {
  const calls = decodeCalls(callData)
  if (calls === undefined || calls.some((call) => call.delegate || isNesting(call)))
    return undefined
  return calls
    .filter(({ to }) => to === token)
    .reduce((approved, { data }) => afterCall(approved, data, spender), allowance)
}

function afterCall(allowance: bigint, data: Hex, spender: Address): bigint {
  const approved = amountFor(spender, data, APPROVE)
  if (approved !== undefined) return approved
  const amount = amountFor(spender, data, INCREASE_ALLOWANCE) ?? 0n
  return amount > MAX_UINT256 - allowance ? MAX_UINT256 : allowance + amount
}

/**
 * The token units that a call of `selector` names for `spender`; undefined = another function, another
 * spender, or arguments that make no sense.
 */
function amountFor(spender: Address, data: Hex, selector: Hex): bigint | undefined {
  if (!data.startsWith(selector)) return undefined
  return readAbi(data, selector, (reader) =>
    reader.address(0) === spender ? reader.uint(32) : undefined,
  )
}

/** A time of six bytes, none of them zero, that no compressor makes shorter. */
const FOR_EVER = 0xf1_2e_5d_93_b7_46

/**
 * The quote to estimate with: at no more than 255 millionths of the price, because an estimate runs with
 * limits far above those that are signed, for which the sender need not have the tokens. No byte of the
 * rate is zero or like another, so that the data of another rate cost no more. The times, which hold for ever, have more
 * bytes that are not zero, to make up for those that the markup may lack.
 */
function measured(quote: TokenQuote): TokenQuote {
  return {
    ...quote,
    rate: placeholderOfWidth(quote.rate, 33),
    markup: 1,
    validAfter: 1,
    validUntil: FOR_EVER,
  }
}

/** The data of a token tank as they were before it signed them, as in a stub. Other data stay. */
export function unsignedTokenData(data: Hex): Hex {
  const parsed = parseTokenData(data)
  if (parsed === undefined) return data
  const { quote, permit } = parsed
  return encodeTokenData({ quote: measured(quote), signature: stubSignature, permit })
}

type StubTerms = {
  readonly quote: TokenQuote
  readonly permit: Permit | undefined
  /** gas of a call of the token beyond a plain one, see tokenGas.ts */
  readonly perCall: bigint
}

/** The token tank's part of an operation, of final length, to estimate with. */
export function tokenStub(
  paymaster: Address,
  { quote, permit, perCall }: StubTerms,
  entryPoint: Pick<EntryPoint, 'hasPaymasterLimits' | 'gas'>,
  draft: DraftBytes,
): PaymasterStub {
  const { hasPaymasterLimits } = entryPoint
  return {
    paymaster,
    paymasterVerificationGasLimit: hasPaymasterLimits
      ? tokenVerificationGas(entryPoint, draft, quote.mode, perCall)
      : 0n,
    paymasterPostOpGasLimit: hasPaymasterLimits ? quote.postOpGas : 0n,
    paymasterData: encodeTokenData({ quote: measured(quote), signature: stubSignature, permit }),
  }
}

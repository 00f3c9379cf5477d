import type { Address } from 'viem'
import { TokenPaymentError } from '../../base/errors/sponsorshipErrors.js'
import { timeText } from '../../base/unixNow.js'
import type { TokenDefinition } from '../../chain/definition/tokenDefinition.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { formatTokens } from '../formatUnits.js'

export function noTokenTank(token: Address, chainId: number, { version }: EntryPoint) {
  return new TokenPaymentError(
    'NO_TOKEN_TANK',
    `Neither the app nor the operator has a token tank on chain ${chainId} for EntryPoint ${version}. The operator creates one with purser tank deposit --kind token.`,
    token,
  )
}

/** `required` in wei */
export function tokenTankEmpty(token: Address, tank: Address, required: bigint) {
  return new TokenPaymentError(
    'TOKEN_TANK_EMPTY',
    `The operation may take ${required} wei from the deposit of token tank ${tank}, which has less that is free. Deposit more with purser tank deposit --kind token, or try again when other operations are included.`,
    token,
  )
}

export function balanceTooLow(token: TokenDefinition, balance: bigint, maxCharge: bigint) {
  return new TokenPaymentError(
    'TOKEN_BALANCE_TOO_LOW',
    `The operation may cost ${formatTokens(maxCharge, token)}, the sender has ${formatTokens(balance, token)}. Fund it, choose another token, or offer lower fees.`,
    token.address,
  )
}

/**
 * `maxCharge` is undefined where the operation could not be measured, because no approval exists.
 */
export function allowanceTooLow(
  token: TokenDefinition,
  tank: Address,
  approved: bigint,
  maxCharge: bigint | undefined,
) {
  const required =
    maxCharge === undefined
      ? 'the maxGasFee of pm_getFeeQuoteOrData'
      : `${formatTokens(maxCharge, token)} (${maxCharge} units)`
  return new TokenPaymentError(
    'TOKEN_ALLOWANCE_TOO_LOW',
    `The token tank ${tank} may take ${formatTokens(approved, token)} of the sender. Add a call to the operation that approves it for at least ${required}, or approve it beforehand.`,
    token.address,
  )
}

export function notExact(token: TokenDefinition) {
  return new TokenPaymentError(
    'TOKEN_NOT_EXACT',
    `A transfer of ${token.symbol} from the sender does not move the amount that it names (the token takes a fee, changes balances on its own, or blocks an address). Choose another token.`,
    token.address,
  )
}

export function exposureReached(token: TokenDefinition, exposed: bigint, maxCharge: bigint) {
  return new TokenPaymentError(
    'TOKEN_EXPOSURE_REACHED',
    `The tanks hold or are promised ${formatTokens(exposed, token)}; ${formatTokens(maxCharge, token)} more would pass the operator's limit. Choose another token; the operator withdraws with purser token withdraw.`,
    token.address,
  )
}

export function senderDefaulted(token: TokenDefinition, until: Date) {
  return new TokenPaymentError(
    'SENDER_DEFAULTED',
    `An earlier operation of this sender did not leave the tokens for its gas. Until ${timeText(Math.ceil(until.getTime() / 1_000))} it must approve the token tank before the operation, not in it.`,
    token.address,
  )
}

/** All in wei; `advanced` is what open quotes may cost, `limit` what they may cost with this one. */
export function advanceReached(
  token: Address,
  subject: string,
  { advanced, maxCost, limit }: { advanced: bigint; maxCost: bigint; limit: bigint },
) {
  return new TokenPaymentError(
    'ADVANCE_REACHED',
    `The token tank would pay up to ${maxCost} wei before it gets its tokens, on top of ${advanced} wei for other operations of ${subject}; its limit is ${limit} wei. Approve the tank beforehand or by a permit, offer lower fees and limits, or ask again when other operations are included.`,
    token,
  )
}

export function chargeFails(token: TokenDefinition, reason: string) {
  return new TokenPaymentError(
    'CHARGE_FAILS',
    `The token tank could not take its charge in ${token.symbol} when the operation was run: ${reason}. The operation must leave the tokens and the approval in place.`,
    token.address,
  )
}

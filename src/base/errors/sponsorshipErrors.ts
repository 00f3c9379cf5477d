import type { Address, Hex } from 'viem'
import type { TokenRefusalCode } from './catalogue.js'
import { PurserError } from './purserError.js'

/**
 * The paymaster does not pay; an error, because ERC-7677 has no other form for a refusal. The
 * message is the decision's sentence, `data.code` its stable code. There is no decision id when
 * nothing was recorded, as for a stub.
 */
export class SponsorshipRefusedError extends PurserError {
  constructor(decision: { decisionId?: string; code: string; message: string }) {
    super(decision.message, {
      code: -32501,
      rule: decision.code,
      data: {
        code: decision.code,
        ...(decision.decisionId && { decisionId: decision.decisionId }),
      },
    })
  }
}

/** A policy that a user wrote is invalid; `field` is the path of the wrong member. */
export class InvalidPolicyError extends PurserError {
  constructor(field: string, reason: string) {
    super(`${field === '' ? 'policy' : field}: ${reason}`, { code: -32602, data: { field } })
  }
}

/** A tank cannot be made, filled or emptied as requested. */
export class TankError extends PurserError {
  constructor(message: string) {
    super(message, { code: -32602 })
  }
}

/** The signer of a tank is lost: the master key does not decrypt its key. */
export class SignerLostError extends TankError {
  constructor({ address, owner }: { readonly address: Address; readonly owner: Address }) {
    super(
      `Tank ${address} cannot sign: the master key does not decrypt the key of its signer. Restore the master key under which the tank was made, or let its owner ${owner} take the deposit out with \`purser tank withdraw\` and make a new tank with \`purser tank replace\`.`,
    )
  }
}

/** A transaction that we sent for an operator reverted, or was not mined in time. */
export class TransactionFailedError extends PurserError {
  constructor(what: string, transactionHash: Hex) {
    super(`${what} (transaction ${transactionHash}).`, {
      code: -32000,
      status: 500,
      data: { transactionHash },
    })
  }
}

type NamedToken = { readonly address: Address; readonly symbol: string }

function listed(tokens: readonly NamedToken[]): string {
  return tokens.map(({ symbol, address }) => `${symbol} ${address}`).join(', ')
}

/** Mode ERC20 without the token to pay with. */
export class MissingTokenError extends PurserError {
  constructor(supported: readonly NamedToken[]) {
    super(
      `tokenInfo.feeTokenAddress is required in mode ERC20: the address of the token to pay with. Supported: ${listed(supported) || 'none on this chain'}.`,
      { code: -32602, data: { supported: supported.map(({ address }) => address) } },
    )
  }
}

/** Gas cannot be paid with this token here. */
export class UnsupportedTokenError extends PurserError {
  constructor(tokens: readonly Address[], chainId: number, supported: readonly NamedToken[]) {
    const subject =
      tokens.length === 0
        ? 'Mode ERC20 is not available'
        : `Fee token ${tokens.join(', ')} is not supported`
    const advice =
      supported.length === 0
        ? `no token is configured on chain ${chainId}. Use mode SPONSORED or pay gas in the native currency.`
        : `chain ${chainId} takes ${listed(supported)}.`
    super(`${subject}: ${advice}`, {
      code: -32602,
      data: { tokens, supported: supported.map(({ address }) => address) },
    })
  }
}

/** The sources of a token's price give none that can be relied on. */
export class TokenPriceError extends PurserError {
  /** Words without a full stop. */
  readonly reason: string
  constructor({ symbol, address }: NamedToken, reason: string) {
    super(
      `There is no reliable price of ${symbol} now: ${reason}. Pay with another token or try again shortly.`,
      { code: -32005, status: 503, retryAfter: 5, data: { code: 'PRICE_STALE', token: address } },
    )
    this.reason = reason
  }
}

/** The paymaster does not take a token for this operation; the message says what to do. */
export class TokenPaymentError extends PurserError {
  constructor(code: TokenRefusalCode, message: string, token: Address) {
    super(message, { code: -32501, rule: code, data: { code, token } })
  }
}

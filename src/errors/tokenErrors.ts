import type { Address } from 'viem'
import { PurserError } from './purserError.js'
import type { TokenRefusalCode } from './refusal.js'

type NamedToken = { readonly address: Address; readonly symbol: string }

function listed(tokens: readonly NamedToken[]): string {
  return tokens.map(({ symbol, address }) => `${symbol} ${address}`).join(', ')
}

/** Mode ERC20 without the token to pay with. */
export class MissingTokenError extends PurserError {
  override readonly name = 'MissingTokenError'
  constructor(supported: readonly NamedToken[]) {
    super(
      `tokenInfo.feeTokenAddress is required in mode ERC20: the address of the token to pay with. Supported: ${listed(supported) || 'none on this chain'}.`,
      { code: -32602, status: 400, data: { supported: supported.map(({ address }) => address) } },
    )
  }
}

/** Gas cannot be paid with this token here. */
export class UnsupportedTokenError extends PurserError {
  override readonly name = 'UnsupportedTokenError'
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
      status: 400,
      data: { tokens, supported: supported.map(({ address }) => address) },
    })
  }
}

/** The sources of a token's price give none that can be relied on. */
export class TokenPriceError extends PurserError {
  override readonly name = 'TokenPriceError'
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
  override readonly name = 'TokenPaymentError'
  constructor(code: TokenRefusalCode, message: string, token: Address) {
    super(message, { code: -32501, status: 400, rule: code, data: { code, token } })
  }
}

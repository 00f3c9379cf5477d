import type { Address, Hex } from 'viem'
import type { TokenDefinition } from '../chain/tokenDefinition.js'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { Permit } from './tokenData.js'

/** A decoded request to pay for an operation with a token. */
export type TokenRequest = {
  readonly appId: string
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  readonly calculateGasLimits: boolean
  /** Seconds the signature shall live; undefined = the default. */
  readonly expiryDuration: number | undefined
  /** undefined = the client named none. */
  readonly token: Address | undefined
  /** EIP-2612, for the app's token tank. */
  readonly permit: Permit | undefined
}

/** A decoded request for what paying with tokens would cost. */
export type QuoteRequest = Pick<TokenRequest, 'appId' | 'entryPoint' | 'draft'> & {
  readonly calculateGasLimits: boolean
  /** Empty = all that the chain takes. */
  readonly tokens: readonly Address[]
}

/** The operation exactly as signed, and what its sender may be charged. */
export type TokenPayment = {
  readonly decisionId: string
  readonly operation: Operation
  readonly paymasterAndData: Hex
  readonly token: TokenDefinition
  /** Smallest token units. */
  readonly maxCharge: bigint
  /** Smallest token units per 10^18 wei, without markup. */
  readonly rate: bigint
  /** Unix seconds */
  readonly validUntil: number
}

/** What an operation would cost in one token. */
export type FeeQuote = Pick<TokenPayment, 'token' | 'maxCharge' | 'rate' | 'validUntil'>

export type FeeQuotes = {
  /** The token tank: who must be approved. */
  readonly paymaster: Address
  readonly quotes: readonly FeeQuote[]
  /** Asked for, and not to be paid with here, or not now. */
  readonly unsupported: readonly Address[]
  /** Millionths of a USD per 10^18 wei; undefined = unknown. */
  readonly nativePrice: bigint | undefined
}

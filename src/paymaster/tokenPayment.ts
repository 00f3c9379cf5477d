import type { Address, Hex } from 'viem'
import type { Requester } from '../base/requester.js'
import type { TokenDefinition } from '../chain/definition/tokenDefinition.js'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { PaymasterStub } from './sponsoredDraft.js'
import type { Permit } from './tokenData.js'

/** A decoded request to pay for an operation with a token. */
export type TokenRequest = {
  readonly appId: string
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  readonly calculateGasLimits: boolean
  /** The seconds that the signature shall live; undefined = the default. */
  readonly expiryDuration: number | undefined
  /** undefined = the client named none. */
  readonly token: Address | undefined
  /** The permit (EIP-2612) for the app's token tank. */
  readonly permit: Permit | undefined
  /** The party for which the operation is run; undefined = the service itself. */
  readonly requester: Requester | undefined
}

/** A decoded request for quotes in tokens. */
export type QuoteRequest = Pick<TokenRequest, 'appId' | 'entryPoint' | 'draft' | 'requester'> & {
  readonly calculateGasLimits: boolean
  /** Empty = all that the chain takes. */
  readonly tokens: readonly Address[]
}

/** The operation exactly as signed, with the most that its sender may be charged. */
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

/** The cost of an operation in one token. */
export type FeeQuote = Pick<TokenPayment, 'token' | 'maxCharge' | 'rate' | 'validUntil'>

export type FeeQuotes = {
  /** The token tank, which the sender must approve. */
  readonly paymaster: Address
  readonly quotes: readonly FeeQuote[]
  /** Requested tokens that cannot be used here, or not now. */
  readonly unsupported: readonly Address[]
  /** Millionths of a USD per 10^18 wei; undefined = unknown. */
  readonly nativePrice: bigint | undefined
}

/** A decoded request for the rates of tokens. */
export type RatesRequest = Pick<TokenRequest, 'appId' | 'entryPoint'> & {
  readonly tokens: readonly Address[]
}

/** The rate of one token, for clients that compute the charge themselves. */
export type TokenRate = {
  readonly token: TokenDefinition
  /** The token tank, which the sender must approve. */
  readonly paymaster: Address
  /** Smallest token units per 10^18 wei, markup included. */
  readonly markedUpRate: bigint
  /**
   * Gas to add to the sum of an operation's limits before an approval is computed: what v0.6 charges
   * on top of them, and a margin for limits and price that change before the tank signs.
   */
  readonly extraGas: bigint
}

export type TokenRates = Pick<FeeQuotes, 'nativePrice'> & { readonly rates: readonly TokenRate[] }

/** The tokens that an app's users may pay with. */
export type TokenList = Pick<TokenRates, 'rates'> & {
  /** The token tank's part of an operation, to estimate with; undefined = there is no token tank. */
  readonly stub: PaymasterStub | undefined
}

import type { Address, Hex } from 'viem'
import type {
  DebugBundler,
  EntityReputation,
  StakeStatus,
} from '../../bundling/createDebugBundler.js'
import type {
  OperationByHash,
  OperationReceipt,
  OperationStatus,
} from '../../bundling/operationViews.js'
import type { FeeAdvice } from '../../chain/feeAdvice.js'
import type { StateOverride } from '../../chain/stateOverride.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { EntryPoint, Version } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'
import type { PaymasterStub } from '../../paymaster/sponsoredDraft.js'
import type {
  PolicyPreview,
  SponsorshipRequest,
  SponsorshipResult,
} from '../../paymaster/sponsorship.js'
import type {
  FeeQuotes,
  QuoteRequest,
  TokenPayment,
  TokenRequest,
} from '../../paymaster/tokenPayment.js'

/** A decoded request for sponsorship; the app comes from the key in the path. */
export type SponsoredMode = Omit<SponsorshipRequest, 'appId'> & {
  readonly mode: 'SPONSORED'
  readonly separateSignature: boolean
  /** What the client takes a refusal as: only the interface's own form has a result for it. */
  readonly refusal: 'result' | 'error'
}

/** A decoded request to pay in tokens, or to hear what that costs; the app comes from the key. */
export type TokenModeParams = Omit<TokenRequest & QuoteRequest, 'appId'> & {
  readonly mode: 'ERC20'
}

export type EstimateParams = {
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  readonly stateOverride: StateOverride | undefined
}

export type SendParams = {
  readonly entryPoint: EntryPoint
  readonly operation: Operation
  readonly simulateExecution: boolean
}

export type HashParams = { readonly hash: Hex }

/** The version says in which shape the operation is written. */
export type VersionedOperation = OperationByHash & { readonly version: Version }

/** How the client that asked reads the paymaster's answer. */
type Form = {
  readonly version: Version
  /** A late signature (v0.9) goes into a field of its own, not behind paymasterData. */
  readonly separateSignature: boolean
}

/** `isFinal`: the account may sign already. */
export type VersionedStub = Form & {
  /** undefined = no paymaster pays, the operation goes without fees. */
  readonly payer: PaymasterStub | undefined
  readonly isFinal: boolean
}
export type VersionedSponsorship = SponsorshipResult & Form & { readonly mode: 'SPONSORED' }
/** A token tank never signs late. */
export type VersionedPayment = TokenPayment & Form & { readonly mode: 'ERC20' }
export type PaymasterAnswer = VersionedSponsorship | VersionedPayment
export type QuotesAnswer = FeeQuotes & { readonly mode: 'QUOTES' }

export type AtEntryPoint = { readonly entryPoint: EntryPoint }
export type EntityParams = AtEntryPoint & { readonly address: Address }
export type DebugOperations = AtEntryPoint & { readonly operations: readonly Operation[] }
export type DebugReputations = AtEntryPoint & { readonly entities: readonly EntityReputation[] }
export type VersionedPool = {
  readonly version: Version
  readonly operations: readonly Operation[]
}

type MethodSignature<Params, Result> = { readonly params: Params; readonly result: Result }

/** Every method with what its decoder gives and its encoder takes. */
export type Signatures = {
  eth_chainId: MethodSignature<null, number>
  eth_supportedEntryPoints: MethodSignature<null, readonly Address[]>
  web3_clientVersion: MethodSignature<null, string>
  eth_estimateUserOperationGas: MethodSignature<EstimateParams, GasEstimate>
  eth_sendUserOperation: MethodSignature<SendParams, Hex>
  eth_getUserOperationReceipt: MethodSignature<HashParams, OperationReceipt | undefined>
  eth_getUserOperationByHash: MethodSignature<HashParams, VersionedOperation | undefined>
  biconomy_getGasFeeValues: MethodSignature<null, FeeAdvice>
  biconomy_getUserOperationStatus: MethodSignature<HashParams, OperationStatus>
  pm_sponsorUserOperation: MethodSignature<SponsoredMode | TokenModeParams, PaymasterAnswer>
  pm_getFeeQuoteOrData: MethodSignature<
    SponsoredMode | TokenModeParams,
    VersionedSponsorship | QuotesAnswer
  >
  pm_getPaymasterStubData: MethodSignature<SponsoredMode | TokenModeParams, VersionedStub>
  pm_getPaymasterData: MethodSignature<SponsoredMode | TokenModeParams, PaymasterAnswer>
  debug_bundler_clearState: MethodSignature<null, void>
  debug_bundler_clearMempool: MethodSignature<null, void>
  debug_bundler_clearReputation: MethodSignature<null, void>
  debug_bundler_dumpMempool: MethodSignature<AtEntryPoint, VersionedPool>
  debug_bundler_addUserOps: MethodSignature<DebugOperations, void>
  debug_bundler_sendBundleNow: MethodSignature<null, void>
  debug_bundler_setBundlingMode: MethodSignature<{ readonly mode: 'manual' | 'auto' }, void>
  debug_bundler_setReputation: MethodSignature<DebugReputations, void>
  debug_bundler_dumpReputation: MethodSignature<
    AtEntryPoint,
    Awaited<ReturnType<DebugBundler['dumpReputation']>>
  >
  debug_bundler_getStakeStatus: MethodSignature<EntityParams, StakeStatus>
  pm_validateSponsorshipPolicies: MethodSignature<SponsoredMode | TokenModeParams, PolicyPreview>
}

export type MethodName = keyof Signatures
export type MethodParams<N extends MethodName> = Signatures[N]['params']
export type MethodResult<N extends MethodName> = Signatures[N]['result']

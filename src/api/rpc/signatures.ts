import type { Address, Hex } from 'viem'
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
import type { SponsorshipRequest, SponsorshipResult } from '../../paymaster/sponsorship.js'

/** A decoded request for sponsorship; the app comes from the key in the path. */
export type SponsoredMode = Omit<SponsorshipRequest, 'appId'> & { readonly mode: 'SPONSORED' }

/** A decoded request to pay in tokens. Empty tokens = any the chain takes. */
export type TokenMode = { readonly mode: 'ERC20'; readonly tokens: readonly Address[] }

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

/** An answer of the paymaster that a v0.6 or a later client reads. */
export type VersionedStub = PaymasterStub & { readonly version: Version }
export type VersionedSponsorship = SponsorshipResult & { readonly version: Version }

type Signature<Params, Result> = { readonly params: Params; readonly result: Result }

/** Every method with what its decoder gives and its encoder takes. */
export type Signatures = {
  eth_chainId: Signature<null, number>
  eth_supportedEntryPoints: Signature<null, readonly Address[]>
  web3_clientVersion: Signature<null, string>
  eth_estimateUserOperationGas: Signature<EstimateParams, GasEstimate>
  eth_sendUserOperation: Signature<SendParams, Hex>
  eth_getUserOperationReceipt: Signature<HashParams, OperationReceipt | undefined>
  eth_getUserOperationByHash: Signature<HashParams, VersionedOperation | undefined>
  biconomy_getGasFeeValues: Signature<null, FeeAdvice>
  biconomy_getUserOperationStatus: Signature<HashParams, OperationStatus>
  pm_sponsorUserOperation: Signature<SponsoredMode | TokenMode, VersionedSponsorship>
  pm_getFeeQuoteOrData: Signature<SponsoredMode | TokenMode, VersionedSponsorship>
  pm_getPaymasterStubData: Signature<SponsoredMode | TokenMode, VersionedStub>
  pm_getPaymasterData: Signature<SponsoredMode | TokenMode, VersionedSponsorship>
}

export type MethodName = keyof Signatures
export type Params<N extends MethodName> = Signatures[N]['params']
export type Result<N extends MethodName> = Signatures[N]['result']

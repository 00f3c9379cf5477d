import type { Hex } from 'viem'
import type { Requester } from '../base/requester.js'
import type { Draft } from '../erc4337/draft.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'

/**
 * The phase of an operation whose account signs before its paymaster (EntryPoint v0.9). `commit`
 * asks for all fields that the account signs, `finalize` for the paymaster's signature on exactly
 * those.
 */
export type SigningPhase = 'commit' | 'finalize'

/** A decoded pm_sponsorUserOperation in mode SPONSORED. */
export type SponsorshipRequest = {
  readonly appId: string
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  readonly calculateGasLimits: boolean
  /** The seconds that the signature shall live; undefined = the default (300). */
  readonly expiryDuration: number | undefined
  /** Ids or names of policies; only those of the app's are asked. undefined = all, in their order. */
  readonly policyIds: readonly string[] | undefined
  /** undefined = none was sent, so no webhook is asked. */
  readonly webhookData: Readonly<Record<string, unknown>> | undefined
  /** undefined = the paymaster signs before the account. */
  readonly signingPhase: SigningPhase | undefined
  /** The party for which the operation is run; undefined = the service itself. */
  readonly requester: Requester | undefined
}

/** The decision about a sponsorship; `code` is stable, `message` is for people. */
export type SponsorshipDecision = {
  readonly decisionId: string
  readonly sponsored: boolean
  readonly code: string
  readonly message: string
}

/**
 * The outcome: the operation with all limits set. When sponsored it carries tank and signature
 * exactly as signed, or in mode native no paymaster and fees of 0; when refused it has no paymaster
 * and limits for sending it self-paid.
 */
export type SponsorshipResult = {
  readonly decision: SponsorshipDecision
  readonly operation: Operation
  /** Ready for v0.6's field; `0x` when refused. */
  readonly paymasterAndData: Hex
}

/** A sponsorship that was granted, asked for at `begin` (Unix milliseconds). */
export type SponsoredStep = {
  readonly userOpHash: Hex
  readonly appId: string
  readonly decisionId: string
  readonly begin: number
}

/** The answer of one policy to a request. */
export type PolicyVerdict = {
  readonly policyId: string
  readonly name: string
  /** A policy of the account must pay too; one of an app can pay alone. */
  readonly scope: 'account' | 'app'
  readonly pays: boolean
  readonly code: string
  readonly message: string
}

/** The decision that would be made now; nothing was asked, reserved or stored. */
export type PolicyPreview = {
  readonly sponsored: boolean
  readonly code: string
  readonly message: string
  /** The app's policy that would pay; undefined when it has no policy or none pays. */
  readonly policyId: string | undefined
  readonly policies: readonly PolicyVerdict[]
}

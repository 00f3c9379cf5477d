import type { Hex } from 'viem'
import type { Draft } from '../entrypoint/draft.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/** A decoded pm_sponsorUserOperation in mode SPONSORED. */
export type SponsorshipRequest = {
  readonly appId: string
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  readonly calculateGasLimits: boolean
  /** Seconds the signature shall live; undefined = the default (300). */
  readonly expiryDuration: number | undefined
  /** undefined = none was sent, so no webhook is asked. */
  readonly webhookData: Readonly<Record<string, unknown>> | undefined
}

/** Why a sponsorship was given or refused; `code` is stable, `message` is for people. */
export type SponsorshipDecision = {
  readonly decisionId: string
  readonly sponsored: boolean
  readonly code: string
  readonly message: string
}

/**
 * The outcome: the operation with all limits set. When sponsored it carries tank and signature
 * exactly as signed; when refused it has no paymaster and limits for sending it self-paid.
 */
export type SponsorshipResult = {
  readonly decision: SponsorshipDecision
  readonly operation: Operation
  /** Ready for v0.6's field; `0x` when refused. */
  readonly paymasterAndData: Hex
}

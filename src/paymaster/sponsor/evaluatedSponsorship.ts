import type { Address } from 'viem'
import type { Refusal } from '../../base/errors/catalogue.js'
import type { Head } from '../../chain/head.js'
import type { Fees } from '../../erc4337/fees.js'
import type { Operation } from '../../erc4337/operation.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import type { WebhookCall } from '../../webhooks/approval.js'
import type { DepositAtHead } from '../ledger/reservations.js'
import type { ReservationClaim } from '../policy/decideReservation.js'
import type { PolicyAnswer } from '../policy/evaluatePolicies.js'
import type { SponsorshipPayer } from '../tank/payer.js'

/** The answers of webhooks and policies so far, for the record of the decision. */
type SponsorshipAnswers = {
  readonly calls: readonly WebhookCall[]
  readonly verdicts: readonly PolicyAnswer[]
  /** The head that it was decided at, where the node was not asked for a newer one. */
  readonly known?: Head | undefined
}

/** A sponsorship that only the ledger can still refuse, with what is to be signed and reserved. */
export type Sponsorable = SponsorshipAnswers & {
  readonly kind: 'sponsorable'
  readonly payer: SponsorshipPayer
  readonly unsigned: Operation
  /**
   * wei per gas that are paid for it: its own fees, or what a bundle may cost that carries it free
   */
  readonly bid: Fees
  /** The address that the sender's code points to (EIP-7702), where the operation does not say. */
  readonly delegate: Address | undefined
  readonly range: TimeRange
  readonly head: DepositAtHead
  /** wei that the app can spend */
  readonly available: bigint
  readonly claim: ReservationClaim
}

/** A sponsorship that a bound, a webhook or a policy refuses. */
export type RefusedSponsorship = SponsorshipAnswers & {
  readonly kind: 'refused'
  readonly refusal: Refusal
  /** The policy that refused; absent where no policy did. */
  readonly policyId?: string
}

/** An operation that would fail with any payer. */
type FailedSponsorship = SponsorshipAnswers & {
  readonly kind: 'failed'
  readonly error: unknown
}

export type EvaluatedSponsorship = Sponsorable | RefusedSponsorship | FailedSponsorship

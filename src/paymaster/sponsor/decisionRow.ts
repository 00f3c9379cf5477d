import type { Address, Hex } from 'viem'
import type { Draft } from '../../erc4337/draft.js'
import type { TimeRange } from '../../erc4337/validationData.js'
import type { WebhookCall } from '../../webhooks/approval.js'
import type { NewDecision } from '../ledger/decisions.js'
import type { NewWebhookCall } from '../ledger/webhookCalls.js'
import type { SponsorshipDecision } from '../sponsorship.js'

/** The subject of a decision. */
export type DecisionSubject = {
  readonly decisionId: string
  readonly appId: string
  readonly chainId: number
  readonly entryPoint: Address
  readonly draft: Pick<Draft, 'sender' | 'nonce'>
}

/** The reservation that a granted sponsorship makes. */
type DecidedReservation = TimeRange & {
  readonly userOpHash: Hex
  /** wei */
  readonly maxCost: bigint
}

/** The reasons of a decision. */
export type Reasons = {
  /** The policy that sponsored or refused. */
  readonly policyId?: string | undefined
  /** The numbers, as JSON. */
  readonly details?: object
  /** Millionths of a USD per 10^18 wei. */
  readonly nativePrice?: bigint | undefined
}

/** The row of a decision; without a reservation its cost is 0. */
export function toDecisionRow(
  { decisionId, appId, chainId, entryPoint, draft }: DecisionSubject,
  { sponsored, code, message }: SponsorshipDecision,
  { policyId, details = {}, nativePrice }: Reasons = {},
  reservation?: DecidedReservation,
): NewDecision {
  return {
    id: decisionId,
    app_id: appId,
    chain_id: BigInt(chainId),
    entry_point: entryPoint,
    sender: draft.sender,
    nonce: draft.nonce,
    user_op_hash: reservation?.userOpHash ?? null,
    sponsored,
    code,
    // PostgreSQL stores no NUL, which a name in a request may have.
    message: message.replaceAll('\0', ''),
    max_cost: reservation?.maxCost ?? 0n,
    valid_after: BigInt(reservation?.validAfter ?? 0),
    valid_until: BigInt(reservation?.validUntil ?? 0),
    policy_id: policyId ?? null,
    details: JSON.stringify(details),
    native_price: nativePrice ?? null,
  }
}

/** The rows of webhook calls that belong to a decision. */
export function toCallRows(calls: readonly WebhookCall[]): NewWebhookCall[] {
  return calls.map((call) => ({
    webhook_id: call.webhookId,
    outcome: call.outcome,
    http_status: call.httpStatus ?? null,
    reason: call.reason ?? null,
    attempts: call.attempts,
    duration_ms: call.durationMs,
    started_at: call.startedAt,
  }))
}

import type { Refusal } from '../../errors/refusal.js'
import { insertDecision } from '../../store/ledger/decisions.js'
import type { WebhookCall } from '../../webhook/approval.js'
import { complete, withPaymaster } from '../sponsoredDraft.js'
import type { SponsorshipDecision, SponsorshipRequest, SponsorshipResult } from '../sponsorship.js'
import { type DecisionSubject, type Reasons, toCallRows, toDecisionRow } from './decisionRow.js'
import type { SponsorParts } from './sponsorContext.js'
import { givenLimits } from './sponsoredLimits.js'

/** The record of a decision that reserves nothing. */
export type UnreservedDecision = {
  readonly subject: DecisionSubject
  readonly reasons: Reasons
  readonly calls: readonly WebhookCall[]
}

/**
 * The result of a refused sponsorship, which is recorded. The operation can be sent without the
 * tank, so it gets limits and fees for that. Throws the operation's error when it would fail even
 * then.
 */
export async function refuseSponsorship(
  parts: SponsorParts,
  request: SponsorshipRequest,
  { code, message }: Refusal,
  record: UnreservedDecision,
): Promise<SponsorshipResult> {
  const { decisionId } = record.subject
  const decision = { decisionId, sponsored: false, code, message }
  await recordDecision(parts, decision, record)
  parts.logger.info({ appId: request.appId, ...decision }, 'sponsorship refused')
  const selfPaid = withPaymaster(request.draft, undefined)
  const estimate = await parts.estimate(request.entryPoint, selfPaid)
  const limits = givenLimits(request.draft, request.calculateGasLimits)
  const operation = complete(selfPaid, { ...estimate, ...limits })
  return { decision, operation, paymasterAndData: '0x' }
}

/** Stores a decision and its webhook calls together. */
export async function recordDecision(
  { database, onDecided }: SponsorParts,
  decision: SponsorshipDecision,
  { subject, reasons, calls }: UnreservedDecision,
): Promise<void> {
  const row = toDecisionRow(subject, decision, reasons)
  await database.transaction().execute((trx) => insertDecision(trx, row, toCallRows(calls)))
  onDecided?.(decision.code)
}

import { randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import { formatEther } from 'viem/utils'
import type { Refusal } from '../../base/errors/catalogue.js'
import { PurserError } from '../../base/errors/purserError.js'
import { faultPoint } from '../../base/faults.js'
import { countedCode } from '../../base/metrics/catalogue.js'
import { timeText, unixNow } from '../../base/unixNow.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { decryptSecret } from '../../tenants/secrets.js'
import type { WebhookCall } from '../../webhooks/approval.js'
import { recordRefusedDecision } from '../ledger/decisions.js'
import { limitsToStore } from '../ledger/signedLimits.js'
import { explainClaims, explainVerdicts } from '../policy/explain.js'
import type { Reserved } from '../policy/reserve.js'
import { complete, withPaymaster } from '../sponsoredDraft.js'
import type { SponsorshipDecision, SponsorshipRequest, SponsorshipResult } from '../sponsorship.js'
import { SIGNER_PURPOSE } from '../tank/signForTank.js'
import type { HeadChoice } from './checkRequest.js'
import { type DecisionSubject, type Reasons, toCallRows, toDecisionRow } from './decisionRow.js'
import type { EvaluatedSponsorship, Sponsorable } from './evaluatedSponsorship.js'
import { type AskWebhooks, evaluateSponsorship, priceAt } from './evaluateSponsorship.js'
import { reservationFor, reservationRefusal } from './reservationFor.js'
import { signSponsorship } from './signSponsorship.js'
import type { SponsorParts } from './sponsorContext.js'
import { givenLimits } from './sponsoredLimits.js'

/**
 * Decides about a sponsorship; when it is granted, signs it and reserves its cost (`Sponsor.sponsor`). It is
 * decided at the head that is known, so that it waits for no node. One that is refused there is decided once
 * more at the newest head, where that is another one: the tank may just have been topped up.
 */
export async function sponsorOperation(
  parts: SponsorParts,
  request: SponsorshipRequest,
): Promise<SponsorshipResult> {
  const { appId, entryPoint, draft } = request
  const { chainId } = parts.definition
  const begin = Date.now()
  const decisionId = randomUUID()
  const subject = { decisionId, appId, chainId, entryPoint: entryPoint.address, draft }

  // Begun now: a look at its sources takes a while.
  const pricing = priceAt(parts, unixNow())
  const ask = webhookQuestion(parts, request, decisionId)
  const decide = async (choice: HeadChoice): Promise<Decided> => {
    const evaluated = await evaluateSponsorship(parts, request, ask, choice)
    if (evaluated.kind !== 'sponsorable') return { evaluated, reservation: undefined }
    const signed = sign(parts, evaluated, entryPoint)
    faultPoint('sponsorship:signed')
    const nativePrice = (await pricing)?.microUsd
    const reasonsOf = (reserved: Reserved) => ({
      ...ledgerReasons(evaluated, reserved),
      nativePrice,
    })
    const signing = { subject, evaluated, signed, reasonsOf }
    const reservation = { ...signing, ...(await reserveSigned(parts, request, signing)) }
    return { evaluated, reservation }
  }
  const first = await decide('known')
  const decided = (await mayBeOutdated(parts, first)) ? await decide('newest') : first
  const { evaluated, reservation } = decided
  const { calls, verdicts } = evaluated
  const policies = explainVerdicts(verdicts)
  if (evaluated.kind === 'failed') {
    const record = { subject, reasons: { details: { policies } }, calls }
    await recordDecision(parts, failedEstimate(decisionId, evaluated.error), record)
    throw evaluated.error
  }
  if (reservation === undefined) {
    const { refusal, policyId } = evaluated
    const reasons = { policyId, details: { policies } }
    return refuseSponsorship(parts, request, refusal, { subject, reasons, calls })
  }

  const { decision, reserved, userOpHash, signed, reasonsOf } = reservation
  faultPoint('sponsorship:committed')
  if (reserved.kind !== 'granted') {
    const refusal = reservationRefusal(evaluated, reserved)
    const record = { subject, reasons: reasonsOf(reserved), calls }
    return refuseSponsorship(parts, request, refusal, record)
  }
  parts.metrics.count('purser_decisions_total', { code: countedCode(decision.code) })
  parts.onSponsored?.({ userOpHash, appId, decisionId, begin })
  parts.logger.info({ appId, op: userOpHash, ...decision }, 'sponsored')
  return { decision, operation: signed, paymasterAndData: entryPoint.paymasterAndData(signed) }
}

function webhookQuestion(
  { approver, definition: { chainId }, logger }: SponsorParts,
  { appId, webhookData = {}, entryPoint, draft }: SponsorshipRequest,
  decisionId: string,
): AskWebhooks {
  return async (facts) => {
    const subject = { chainId, entryPoint, draft, ...facts }
    const approval = await approver.approve({ appId, decisionId, webhookData, subject })
    if (approval.calls.length === 0) logger.info({ appId, decisionId }, 'no_active_webhook')
    return { approval, webhooksAsked: approval.calls.length }
  }
}

/** The operation with the tank's signature; without a tank the grant stands for a signature. */
function sign(
  { masterKey, definition: { chainId } }: SponsorParts,
  { payer: { tank }, unsigned, range, delegate }: Sponsorable,
  entryPoint: EntryPoint,
): Operation {
  if (tank === undefined) return unsigned
  const key = decryptSecret(masterKey, SIGNER_PURPOSE, tank.signer_key) as Hex
  const signer = { address: tank.signer, key }
  const paying = { ...unsigned, paymaster: tank.address }
  const domain = { entryPoint, chainId, delegate }
  return signSponsorship(paying, domain, range, signer)
}

type SignedSponsorship = {
  readonly subject: DecisionSubject
  readonly evaluated: Sponsorable
  readonly signed: Operation
  readonly reasonsOf: (reserved: Reserved) => Reasons
}

/** A decision, with what the ledger says where it was asked. */
type Decided =
  | {
      readonly evaluated: Exclude<EvaluatedSponsorship, Sponsorable>
      readonly reservation: undefined
    }
  | {
      readonly evaluated: Sponsorable
      readonly reservation: SignedSponsorship & Awaited<ReturnType<typeof reserveSigned>>
    }

/**
 * Whether it was refused at a head that is not the newest, for a reason that may depend on it. Budgets do not, and an
 * operation that fails was tried on the newest state.
 */
async function mayBeOutdated(
  { heads }: SponsorParts,
  { evaluated: { kind, known }, reservation }: Decided,
): Promise<boolean> {
  const dependsOnHead = kind === 'refused' || reservation?.reserved.kind === 'short'
  return known !== undefined && dependsOnHead && (await heads.refresh()).hash !== known.hash
}

/** Asks the ledger, which stores the decision when it grants the sponsorship. */
async function reserveSigned(
  { reserve, definition: { chainId, nativeCoin } }: SponsorParts,
  request: SponsorshipRequest,
  { subject, evaluated, signed, reasonsOf }: SignedSponsorship,
) {
  const { appId, entryPoint } = request
  const { claim, range, bid, delegate, calls } = evaluated
  const { validUntil } = range
  const { maxFeePerGas, maxPriorityFeePerGas } = bid
  const userOpHash = entryPoint.hash(signed, chainId, delegate)
  const decision = {
    decisionId: subject.decisionId,
    sponsored: true,
    code: 'SPONSORED',
    message: `Sponsored up to ${formatEther(claim.maxCost)} ${nativeCoin} until ${timeText(validUntil)}.`,
  }
  const reservation = { userOpHash, maxCost: claim.maxCost, ...range }
  const grant = { chainId, userOpHash, appId, maxFeePerGas, maxPriorityFeePerGas, validUntil }
  const reserved = await reserve({
    request: {
      ...reservationFor(evaluated, request, chainId),
      validUntil: BigInt(validUntil),
    },
    decide: (granted) => toDecisionRow(subject, decision, reasonsOf(granted), reservation),
    calls: toCallRows(calls),
    grant: signed.paymaster === undefined ? grant : undefined,
  })
  return { decision, reserved, userOpHash }
}

/** The record of a decision that reserves nothing. */
type UnreservedDecision = {
  readonly subject: DecisionSubject
  readonly reasons: Reasons
  readonly calls: readonly WebhookCall[]
}

/**
 * The result of a refused sponsorship, which is recorded. The operation can be sent without the
 * tank, so it gets limits and fees for that. Throws the operation's error when it would fail even
 * then.
 */
async function refuseSponsorship(
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
  const { requester } = request
  const estimate = await parts.estimate(request.entryPoint, selfPaid, { requester })
  const limits = givenLimits(request.draft, request.calculateGasLimits)
  const operation = complete(selfPaid, { ...estimate, ...limits })
  return { decision, operation, paymasterAndData: '0x' }
}

function recordDecision(
  parts: SponsorParts,
  decision: SponsorshipDecision,
  { subject, reasons, calls }: UnreservedDecision,
): Promise<void> {
  const row = toDecisionRow(subject, decision, reasons)
  return recordRefusedDecision(parts, row, toCallRows(calls))
}

/** The reasons of a decision that the ledger made, with its amounts: wei as decimal text. */
function ledgerReasons(
  { payer: { credit }, verdicts, head, claim, unsigned }: Sponsorable,
  reserved: Reserved,
): Reasons {
  return {
    policyId: policyIdOf(credit?.id, reserved),
    details: {
      policies: explainVerdicts(verdicts),
      maxCost: claim.maxCost.toString(),
      deposit: head.deposit?.toString(),
      locked: reserved.locked.toString(),
      limits: limitsToStore(unsigned),
      budgets: explainClaims(claimsOf(reserved)),
    },
  }
}

/** The policy that decided. A credit passes the ledger as a policy does, but is no policy. */
function policyIdOf(creditId: string | undefined, reserved: Reserved): string | undefined {
  return reserved.kind === 'short' || reserved.policyId === creditId ? undefined : reserved.policyId
}

function claimsOf(reserved: Reserved) {
  if (reserved.kind === 'granted') return reserved.charges
  return reserved.kind === 'refused' ? reserved.claims : []
}

/** The decision about an operation that would fail with any payer. */
function failedEstimate(decisionId: string, reason: unknown): SponsorshipDecision {
  return {
    decisionId,
    sponsored: false,
    code: 'ESTIMATION_FAILED',
    message: reason instanceof PurserError ? reason.message : 'The operation cannot be estimated.',
  }
}

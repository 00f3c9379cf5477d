import { randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import { faultPoint } from '../base/faults.js'
import { unixNow } from '../base/unixNow.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { PurserError } from '../errors/purserError.js'
import { SponsorshipRefusedError } from '../errors/sponsorshipErrors.js'
import { explainClaims, explainVerdicts } from '../policy/explain.js'
import type { Refusal } from '../policy/refusal.js'
import type { Reserved } from '../policy/reserve.js'
import { insertDecision } from '../store/ledger/decisions.js'
import { decryptSecret } from '../tenancy/secrets.js'
import type { WebhookCall } from '../webhook/approval.js'
import type { Approver } from '../webhook/approve.js'
import { createReserving } from './sponsor/createReserving.js'
import {
  type DecisionSubject,
  type Reasons,
  toCallRows,
  toDecisionRow,
} from './sponsor/decisionRow.js'
import {
  type AskWebhooks,
  createSponsorshipEvaluator,
  type EvaluationContext,
  type Sponsorable,
} from './sponsor/evaluateSponsorship.js'
import { previewSponsorship } from './sponsor/previewSponsorship.js'
import { reservationFor, reservationRefusal } from './sponsor/reservationFor.js'
import { signSponsorship } from './sponsor/signSponsorship.js'
import { givenLimits } from './sponsor/sponsoredLimits.js'
import {
  complete,
  type PaymasterStub,
  tankStub,
  withPaymaster,
  withSignature,
} from './sponsoredDraft.js'
import type { PolicyPreview, SponsorshipRequest, SponsorshipResult } from './sponsorship.js'
import { durationOf, timeRange } from './sponsorshipTerms.js'
import { SIGNER_PURPOSE } from './tank/signForTank.js'

export type SponsorContext = EvaluationContext & {
  readonly masterKey: Buffer
  readonly approver: Approver
}

export type Sponsor = {
  /**
   * Decides and, when it is yes, reserves and signs. A refusal is a result with limits for sending
   * the operation self-paid. Throws InvalidParamsError, or the operation error when the operation
   * would fail whoever pays. Every outcome but bad parameters leaves a decision in the store.
   */
  sponsor(request: SponsorshipRequest): Promise<SponsorshipResult>
  /**
   * Asks no webhook and records nothing; undefined where no paymaster pays. Throws
   * SponsorshipRefusedError when there is no tank.
   */
  stub(request: SponsorshipRequest): Promise<PaymasterStub | undefined>
  /**
   * What `sponsor` would decide, and each policy's word on it, without a webhook, a reservation or a
   * record. Throws as `sponsor` does.
   */
  preview(request: SponsorshipRequest): Promise<PolicyPreview>
}

/** One chain's sponsor. */
export function createSponsor(context: SponsorContext): Sponsor {
  const { database, definition, terms, logger } = context
  const { chainId } = definition
  const { weigh, requirePayer } = createSponsorshipEvaluator(context)
  const reserve = createReserving(database)

  const askWebhooks =
    (request: SponsorshipRequest, decisionId: string): AskWebhooks =>
    async (known) => {
      const { appId, webhookData = {}, entryPoint, draft } = request
      const subject = { chainId, entryPoint, draft, ...known }
      const approval = await context.approver.approve({ appId, decisionId, webhookData, subject })
      if (approval.calls.length === 0) logger.info({ appId, decisionId }, 'no_active_webhook')
      return { approval, asked: approval.calls.length }
    }

  /** The operation can be sent without the tank, so it gets limits and fees for that. */
  const refuse = async (
    subject: DecisionSubject,
    request: SponsorshipRequest,
    { code, message }: Refusal,
    reasons: Reasons,
    calls: readonly WebhookCall[],
  ): Promise<SponsorshipResult> => {
    const decision = { decisionId: subject.decisionId, sponsored: false, code, message }
    await record(subject, decision, reasons, calls)
    logger.info({ appId: request.appId, ...decision }, 'sponsorship refused')
    const selfPaid = withPaymaster(request.draft, undefined)
    const estimate = await context.estimate(request.entryPoint, selfPaid)
    const limits = givenLimits(request.draft, request.calculateGasLimits)
    const operation = complete(selfPaid, { ...estimate, ...limits })
    return { decision, operation, paymasterAndData: '0x' }
  }

  const record = (
    subject: DecisionSubject,
    decision: SponsorshipResult['decision'],
    reasons: Reasons,
    calls: readonly WebhookCall[],
  ): Promise<void> =>
    database
      .transaction()
      .execute((trx) =>
        insertDecision(trx, toDecisionRow(subject, decision, reasons), toCallRows(calls)),
      )

  /** With the tank's signature; without a tank there is nothing to sign, the grant stands for it. */
  const sign = (
    { payer: { tank }, unsigned, range, delegate }: Sponsorable,
    entryPoint: EntryPoint,
  ): Operation => {
    if (tank === undefined) return unsigned
    const key = decryptSecret(context.masterKey, SIGNER_PURPOSE, tank.signer_key) as Hex
    const signer = { address: tank.signer, key }
    const paying = { ...unsigned, paymaster: tank.address }
    return signSponsorship(paying, entryPoint, chainId, range, signer, delegate)
  }

  const sponsor = async (given: SponsorshipRequest): Promise<SponsorshipResult> => {
    const request = { ...given, draft: withSignature(given.draft) }
    const { appId, entryPoint, draft } = request
    const decisionId = randomUUID()
    const subject = { decisionId, appId, chainId, entryPoint: entryPoint.address, draft }

    const weighed = await weigh(request, askWebhooks(request, decisionId))
    const { calls, verdicts } = weighed
    const policies = explainVerdicts(verdicts)
    if (weighed.kind === 'failed') {
      await record(
        subject,
        failedEstimate(decisionId, weighed.error),
        { details: { policies } },
        calls,
      )
      throw weighed.error
    }
    if (weighed.kind === 'refused') {
      const { refusal, policyId } = weighed
      return refuse(subject, request, refusal, { policyId, details: { policies } }, calls)
    }

    const { offer, delegate, range, claim } = weighed
    const signed = sign(weighed, entryPoint)
    faultPoint('sponsorship:signed')
    const { maxCost } = claim
    const decision = {
      decisionId,
      sponsored: true,
      code: 'SPONSORED',
      message: `Sponsored up to ${maxCost} wei until ${range.validUntil}.`,
    }
    const userOpHash = entryPoint.hash(signed, chainId, delegate)
    const reservation = { userOpHash, maxCost, ...range }
    const { maxFeePerGas, maxPriorityFeePerGas } = offer
    const { validUntil } = range
    const grant = { chainId, userOpHash, appId, maxFeePerGas, maxPriorityFeePerGas, validUntil }
    const reasonsOf = (reserved: Reserved): Reasons => ({
      policyId: policyIdOf(weighed, reserved),
      details: { policies, ...numbers(weighed, reserved) },
    })
    const asked = reservationFor(weighed, request, chainId)
    const reserved = await reserve({
      request: { ...asked, validUntil: BigInt(validUntil) },
      decide: (granted) => toDecisionRow(subject, decision, reasonsOf(granted), reservation),
      calls: toCallRows(calls),
      grant: signed.paymaster === undefined ? grant : undefined,
    })
    faultPoint('sponsorship:committed')
    if (reserved.kind !== 'granted') {
      const refusal = reservationRefusal(weighed, reserved)
      return refuse(subject, request, refusal, reasonsOf(reserved), calls)
    }
    logger.info({ appId, ...decision }, 'sponsored')
    const paymasterAndData = entryPoint.paymasterAndData(signed)
    return { decision, operation: signed, paymasterAndData }
  }

  const stub = async (request: SponsorshipRequest) => {
    const { appId, entryPoint, draft, signingPhase } = request
    const duration = durationOf(request.expiryDuration, terms)
    const { payer, refusal } = await requirePayer(appId, entryPoint)
    if (payer === undefined) throw new SponsorshipRefusedError(refusal)
    const { tank } = payer
    if (tank === undefined) return undefined
    const now = unixNow()
    const range = timeRange(0, now, duration)
    const isLate = signingPhase === 'commit'
    return tankStub(tank.address, range, entryPoint, withSignature(draft), isLate)
  }

  const preview = (request: SponsorshipRequest): Promise<PolicyPreview> =>
    previewSponsorship(
      { database, chainId, weigh },
      { ...request, draft: withSignature(request.draft) },
    )

  return { sponsor, stub, preview }
}

/** wei, as decimal text */
function numbers({ head, claim }: Sponsorable, reserved: Reserved) {
  return {
    maxCost: claim.maxCost.toString(),
    deposit: head.deposit?.toString(),
    locked: reserved.locked.toString(),
    budgets: explainClaims(
      reserved.kind === 'granted'
        ? reserved.charges
        : reserved.kind === 'refused'
          ? reserved.claims
          : [],
    ),
  }
}

/** The policy that decided; a credit is none. */
function policyIdOf({ payer: { credit } }: Sponsorable, reserved: Reserved): string | undefined {
  return reserved.kind === 'short' || reserved.policyId === credit?.id
    ? undefined
    : reserved.policyId
}

function failedEstimate(decisionId: string, reason: unknown) {
  return {
    decisionId,
    sponsored: false,
    code: 'ESTIMATION_FAILED',
    message: reason instanceof PurserError ? reason.message : 'The operation cannot be estimated.',
  }
}

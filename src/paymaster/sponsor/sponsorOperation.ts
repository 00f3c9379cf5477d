import { randomUUID } from 'node:crypto'
import type { Hex } from 'viem'
import { faultPoint } from '../../base/faults.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { explainVerdicts } from '../../policy/explain.js'
import type { Reserved } from '../../policy/reserve.js'
import { decryptSecret } from '../../tenancy/secrets.js'
import type { SponsorshipRequest, SponsorshipResult } from '../sponsorship.js'
import { SIGNER_PURPOSE } from '../tank/signForTank.js'
import { type DecisionSubject, type Reasons, toCallRows, toDecisionRow } from './decisionRow.js'
import type { Sponsorable } from './evaluatedSponsorship.js'
import { type AskWebhooks, evaluateSponsorship } from './evaluateSponsorship.js'
import { recordDecision, refuseSponsorship } from './refuseSponsorship.js'
import { reservationFor, reservationRefusal } from './reservationFor.js'
import { signSponsorship } from './signSponsorship.js'
import type { SponsorParts } from './sponsorContext.js'
import { failedEstimate, ledgerReasons } from './sponsorshipReasons.js'

/**
 * Decides about a sponsorship; when it is granted, signs it and reserves its cost
 * (`Sponsor.sponsor`).
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

  const evaluated = await evaluateSponsorship(
    parts,
    request,
    webhookQuestion(parts, request, decisionId),
  )
  const { calls, verdicts } = evaluated
  const policies = explainVerdicts(verdicts)
  if (evaluated.kind === 'failed') {
    const record = { subject, reasons: { details: { policies } }, calls }
    await recordDecision(parts, failedEstimate(decisionId, evaluated.error), record)
    throw evaluated.error
  }
  if (evaluated.kind === 'refused') {
    const { refusal, policyId } = evaluated
    const reasons = { policyId, details: { policies } }
    return refuseSponsorship(parts, request, refusal, { subject, reasons, calls })
  }

  const signed = sign(parts, evaluated, entryPoint)
  faultPoint('sponsorship:signed')
  const reasonsOf = (reserved: Reserved) => ledgerReasons(evaluated, reserved)
  const { decision, reserved, userOpHash } = await reserveSigned(parts, request, {
    subject,
    evaluated,
    signed,
    reasonsOf,
  })
  faultPoint('sponsorship:committed')
  if (reserved.kind !== 'granted') {
    const refusal = reservationRefusal(evaluated, reserved)
    const record = { subject, reasons: reasonsOf(reserved), calls }
    return refuseSponsorship(parts, request, refusal, record)
  }
  parts.onDecided?.(decision.code)
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
  const domain = { entryPoint, chainId, contract: tank.contract, delegate }
  return signSponsorship(paying, domain, range, signer)
}

type SignedSponsorship = {
  readonly subject: DecisionSubject
  readonly evaluated: Sponsorable
  readonly signed: Operation
  readonly reasonsOf: (reserved: Reserved) => Reasons
}

/** Asks the ledger, which stores the decision when it grants the sponsorship. */
async function reserveSigned(
  { reserve, definition: { chainId } }: SponsorParts,
  request: SponsorshipRequest,
  { subject, evaluated, signed, reasonsOf }: SignedSponsorship,
) {
  const { appId, entryPoint } = request
  const { claim, range, offer, delegate, calls } = evaluated
  const { validUntil } = range
  const { maxFeePerGas, maxPriorityFeePerGas } = offer
  const userOpHash = entryPoint.hash(signed, chainId, delegate)
  const decision = {
    decisionId: subject.decisionId,
    sponsored: true,
    code: 'SPONSORED',
    message: `Sponsored up to ${claim.maxCost} wei until ${new Date(validUntil * 1_000).toISOString()}.`,
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

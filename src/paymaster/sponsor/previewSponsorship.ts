import { formatEther } from 'viem/utils'
import type { Refusal } from '../../base/errors/catalogue.js'
import { listActiveWebhooks } from '../../webhooks/manage.js'
import type { PolicyClaim } from '../policy/decideReservation.js'
import type { PolicyAnswer } from '../policy/evaluatePolicies.js'
import { previewReservation } from '../policy/reserve.js'
import type { PolicyPreview, PolicyVerdict, SponsorshipRequest } from '../sponsorship.js'
import type { Sponsorable } from './evaluatedSponsorship.js'
import { evaluateSponsorship } from './evaluateSponsorship.js'
import { reservationFor, reservationRefusal } from './reservationFor.js'
import type { SponsorParts } from './sponsorContext.js'

/**
 * The decision about a sponsorship that is made now, with the answer of each policy. The ledger is
 * read only; webhooks count as approving.
 */
export async function previewSponsorship(
  parts: SponsorParts,
  request: SponsorshipRequest,
): Promise<PolicyPreview> {
  const { database, definition } = parts
  const approving = async () => ({
    approval: { approved: true, calls: [] },
    webhooksAsked: (await listActiveWebhooks(database, request.appId)).length,
  })
  const evaluated = await evaluateSponsorship(parts, request, approving, 'newest')
  if (evaluated.kind === 'failed') throw evaluated.error
  if (evaluated.kind === 'refused') {
    const policies = evaluated.verdicts.map((verdict) => toVerdict(verdict))
    return { ...refused(evaluated.refusal), policies }
  }
  const ask = (claim: Sponsorable['claim']) =>
    previewReservation(
      database,
      reservationFor({ ...evaluated, claim }, request, definition.chainId),
    )
  const refusalBy = async (candidate: PolicyClaim): Promise<Refusal | undefined> => {
    const alone = await ask({ ...evaluated.claim, ofAccount: [candidate], ofApp: undefined })
    return alone.kind === 'granted' ? undefined : reservationRefusal(evaluated, alone)
  }
  const { ofAccount, ofApp = [] } = evaluated.claim
  const byPolicy = new Map<string, Refusal | undefined>()
  for (const candidate of [...ofAccount, ...ofApp])
    byPolicy.set(candidate.policyId, await refusalBy(candidate))
  const policies = evaluated.verdicts.map(({ policy, refusal }) =>
    toVerdict({ policy, refusal: refusal ?? byPolicy.get(policy.id) }),
  )
  const reserved = await ask(evaluated.claim)
  if (reserved.kind !== 'granted')
    return { ...refused(reservationRefusal(evaluated, reserved)), policies }
  const { policyId } = reserved
  const message = `Would be sponsored up to ${formatEther(evaluated.claim.maxCost)} ${definition.nativeCoin}.`
  return { sponsored: true, code: 'SPONSORED', message, policyId, policies }
}

function refused({ code, message }: Refusal) {
  return {
    sponsored: false,
    code,
    message,
    policyId: undefined,
  }
}

function toVerdict({ policy, refusal }: PolicyAnswer): PolicyVerdict {
  return {
    policyId: policy.id,
    name: policy.name,
    scope: policy.appId === undefined ? 'account' : 'app',
    pays: refusal === undefined,
    code: refusal?.code ?? 'PAYS',
    message: refusal?.message ?? `Policy ${policy.name} pays.`,
  }
}

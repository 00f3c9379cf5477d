import { formatEther } from 'viem/utils'
import type { Refusal } from '../../base/errors/catalogue.js'
import { listActiveWebhooks } from '../../webhooks/manage.js'
import type { PolicyAnswer } from '../policy/evaluatePolicies.js'
import { previewReservations, type Reserved } from '../policy/reserve.js'
import type { PolicyPreview, PolicyVerdict, SponsorshipRequest } from '../sponsorship.js'
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
  const { ofAccount, ofApp = [] } = evaluated.claim
  const candidates = [...ofAccount, ...ofApp]
  const claims = candidates.map((candidate) => ({
    ...evaluated.claim,
    ofAccount: [candidate],
    ofApp: undefined,
  }))
  const asked = [evaluated.claim, ...claims].map((claim) =>
    reservationFor({ ...evaluated, claim }, request, definition.chainId),
  )
  const [reserved, ...alone] = await previewReservations(database, asked)
  if (reserved === undefined) throw new Error('a preview without an answer')
  const refusalOf = (answer: Reserved): Refusal | undefined =>
    answer.kind === 'granted' ? undefined : reservationRefusal(evaluated, answer)
  const byPolicy = new Map(
    alone.map((answer, place) => [candidates[place]?.policyId, refusalOf(answer)]),
  )
  const policies = evaluated.verdicts.map(({ policy, refusal }) =>
    toVerdict({ policy, refusal: refusal ?? byPolicy.get(policy.id) }),
  )
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

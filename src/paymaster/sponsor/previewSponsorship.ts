import type { Refusal } from '../../errors/refusal.js'
import type { PolicyClaim } from '../../policy/decideReservation.js'
import type { PolicyAnswer } from '../../policy/evaluatePolicies.js'
import { previewReservation } from '../../policy/reserve.js'
import type { Database } from '../../store/database.js'
import { listActiveWebhooks } from '../../store/tenants/webhooks.js'
import type { PolicyPreview, PolicyVerdict, SponsorshipRequest } from '../sponsorship.js'
import type { Sponsorable, SponsorshipEvaluator } from './evaluateSponsorship.js'
import { reservationFor, reservationRefusal } from './reservationFor.js'

type PreviewContext = {
  readonly database: Database
  readonly chainId: number
  readonly weigh: SponsorshipEvaluator['weigh']
}

/** The way of a sponsorship up to the ledger, which is read only. Webhooks count as approving. */
export async function previewSponsorship(
  { database, chainId, weigh }: PreviewContext,
  request: SponsorshipRequest,
): Promise<PolicyPreview> {
  const weighed = await weigh(request, async () => ({
    approval: { approved: true, calls: [] },
    asked: (await listActiveWebhooks(database, request.appId)).length,
  }))
  if (weighed.kind === 'failed') throw weighed.error
  if (weighed.kind === 'refused') {
    const policies = weighed.verdicts.map((verdict) => toVerdict(verdict))
    return { ...refused(weighed.refusal), policies }
  }
  const ask = (claim: Sponsorable['claim']) =>
    previewReservation(database, reservationFor({ ...weighed, claim }, request, chainId))
  const refusalBy = async (candidate: PolicyClaim): Promise<Refusal | undefined> => {
    const alone = await ask({ ...weighed.claim, ofAccount: [candidate], ofApp: undefined })
    return alone.kind === 'granted' ? undefined : reservationRefusal(weighed, alone)
  }
  const { ofAccount, ofApp = [] } = weighed.claim
  const byPolicy = new Map<string, Refusal | undefined>()
  for (const candidate of [...ofAccount, ...ofApp])
    byPolicy.set(candidate.policyId, await refusalBy(candidate))
  const policies = weighed.verdicts.map(({ policy, refusal }) =>
    toVerdict({ policy, refusal: refusal ?? byPolicy.get(policy.id) }),
  )
  const reserved = await ask(weighed.claim)
  if (reserved.kind !== 'granted')
    return { ...refused(reservationRefusal(weighed, reserved)), policies }
  const { policyId } = reserved
  const message = `Would be sponsored up to ${weighed.claim.maxCost} wei.`
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

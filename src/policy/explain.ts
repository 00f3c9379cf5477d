import { addition, type ClaimDecision } from './decideReservation.js'
import type { PolicyAnswer } from './evaluatePolicies.js'

/** What the policies said, for the decision record. JSON. */
export function explainVerdicts(verdicts: readonly PolicyAnswer[]) {
  return verdicts.map(({ policy, refusal }) => ({
    policyId: policy.id,
    name: policy.name,
    passed: refusal === undefined,
    ...refusal,
  }))
}

/** What the ledger said of budgets, in their units, for the decision record. JSON. */
export function explainClaims(claims: readonly ClaimDecision[]) {
  return claims.map((claim) => ({
    policyId: claim.policyId,
    budget: claim.budget,
    subject: claim.subject,
    bucket: claim.bucket,
    limit: claim.limit.toString(),
    used: claim.used.toString(),
    added: addition(claim).toString(),
    ...(claim.price !== undefined && { microUsdPerNative: claim.price.toString() }),
  }))
}

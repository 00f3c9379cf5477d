import type { ClaimDecision } from './decideReservation.js'
import type { PolicyAnswer } from './evaluatePolicies.js'

/** The answers of the policies as JSON, for the record of the decision. */
export function explainVerdicts(verdicts: readonly PolicyAnswer[]) {
  return verdicts.map(({ policy, refusal }) => ({
    policyId: policy.id,
    name: policy.name,
    passed: refusal === undefined,
    ...refusal,
  }))
}

/** The ledger's view of budgets, in their units, as JSON for the record of the decision. */
export function explainClaims(claims: readonly ClaimDecision[]) {
  return claims.map((claim) => ({
    policyId: claim.policyId,
    budget: claim.budget,
    subject: claim.subject,
    bucket: claim.bucket,
    limit: claim.limit.toString(),
    used: claim.used.toString(),
    added: claim.added.toString(),
    ...(claim.price !== undefined && { microUsdPerNative: claim.price.toString() }),
  }))
}

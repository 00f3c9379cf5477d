import type { Refusal, RefusalCode } from '../../base/errors/catalogue.js'
import { type BudgetSpending, claimBudgets, MOST_CLAIMS } from './budget/budget.js'
import type { PolicyClaim, ReservationClaim } from './decideReservation.js'
import type { AppPolicies } from './policies.js'
import type { Policy } from './policySchema.js'
import { estimateRules, naming, requestRules, scopeRules } from './rules/policyRules.js'
import type { EstimateFacts, PolicyRule, RequestFacts } from './rules/rule.js'

/** The answer of one policy; without a refusal it would pay. */
export type PolicyAnswer = { readonly policy: Policy; readonly refusal: Refusal | undefined }

/** The policies that have not refused yet. */
export type RemainingPolicies = {
  /** All of these must pay. */
  readonly ofAccount: readonly Policy[]
  /** The first of these that pays is enough; undefined = the app has no policy and needs none. */
  readonly ofApp: readonly Policy[] | undefined
}

/** The answers of all policies, and either what passed or the refusal that decided. */
type PolicyEvaluation<Passed> = { readonly verdicts: readonly PolicyAnswer[] } & (
  | { readonly passed: Passed }
  | { readonly passed: undefined; readonly refusal: Refusal; readonly policyId: string }
)

/**
 * The policies of an app that a request chooses by id or name, as clients of other providers do. Those of the account
 * bind in any case. A name that none has is refused: an app that misspells it would be sponsored by another policy.
 */
export function namedPolicies(
  { ofAccount, ofApp }: AppPolicies,
  policyIds: readonly string[] | undefined,
): AppPolicies | { readonly refusal: Refusal } {
  if (policyIds === undefined) return { ofAccount, ofApp }
  const chosen = ofApp.filter(({ id, name }) => policyIds.includes(id) || policyIds.includes(name))
  if (chosen.length > 0) return { ofAccount, ofApp: chosen }
  const message = `The app has no policy with the id or name ${policyIds.map((each) => `"${each}"`).join(', ')}. Create one of that name, or leave the policy id out.`
  return { refusal: { code: 'POLICY_UNKNOWN', message } }
}

/** Applies the rules that need no estimate, no webhook and no money. */
export function evaluateRequest(
  policies: AppPolicies,
  facts: RequestFacts,
): PolicyEvaluation<RemainingPolicies> {
  const inScope = ({ active, terms }: Policy) =>
    active && Object.values(scopeRules).every((rule) => rule(terms, facts) === undefined)
  const ofAccount = policies.ofAccount
    .filter(inScope)
    .map((policy) => ({ policy, refusal: firstOf(requestRules, policy, facts) }))
  const ofApp = policies.ofApp.map((policy) => ({
    policy,
    refusal: policy.active
      ? firstOf({ ...scopeRules, ...requestRules }, policy, facts)
      : naming(policy, { code: 'POLICY_INACTIVE', message: 'it is not active.' }),
  }))
  const isRemaining = ({ refusal }: PolicyAnswer) => refusal === undefined
  return conclude(ofAccount, ofApp, {
    ofAccount: ofAccount.map(({ policy }) => policy),
    ofApp:
      policies.ofApp.length === 0
        ? undefined
        : ofApp.filter(isRemaining).map(({ policy }) => policy),
  })
}

/** The facts of an operation whose cost is known. */
type CostFacts = BudgetSpending & EstimateFacts

/** An answer, and what the ledger is asked to reserve for the policy when it would pay. */
type CostAnswer = PolicyAnswer & { readonly candidate: PolicyClaim | undefined }

/**
 * Applies the rules on the estimate to the policies that `evaluateRequest` left, and claims
 * budgets.
 */
export function evaluateCost(
  remaining: RemainingPolicies,
  facts: CostFacts,
): PolicyEvaluation<Pick<ReservationClaim, 'ofAccount' | 'ofApp'>> {
  let left = MOST_CLAIMS
  const answer = (policy: Policy): CostAnswer => {
    const refusal = firstOf(estimateRules, policy, facts)
    if (refusal !== undefined) return { policy, refusal, candidate: undefined }
    const budgets = claimBudgets(policy, facts, left)
    if ('refusal' in budgets) return { policy, refusal: budgets.refusal, candidate: undefined }
    left -= budgets.claims.length
    return { policy, refusal: undefined, candidate: { policyId: policy.id, ...budgets } }
  }
  const ofAccount = remaining.ofAccount.map(answer)
  const ofApp = remaining.ofApp?.map(answer)
  return conclude(ofAccount, ofApp ?? [], {
    ofAccount: ofAccount.flatMap(({ candidate }) => candidate ?? []),
    ofApp: ofApp?.flatMap(({ candidate }) => candidate ?? []),
  })
}

/**
 * The first of the account's refusals decides; else one of the app's, when none of its policies
 * pays.
 */
function conclude<Passed>(
  ofAccount: readonly PolicyAnswer[],
  ofApp: readonly PolicyAnswer[],
  passed: Passed,
): PolicyEvaluation<Passed> {
  const verdicts = [...ofAccount, ...ofApp].map(({ policy, refusal }) => ({ policy, refusal }))
  const refusing =
    ofAccount.find(({ refusal }) => refusal !== undefined) ??
    (ofApp.every(({ refusal }) => refusal !== undefined) ? mostTelling(ofApp) : undefined)
  return refusing?.refusal === undefined
    ? { verdicts, passed }
    : { verdicts, passed: undefined, refusal: refusing.refusal, policyId: refusing.policy.id }
}

const outOfScope: readonly RefusalCode[] = [
  'POLICY_INACTIVE',
  'POLICY_NOT_IN_FORCE',
  'CHAIN_NOT_COVERED',
]

/**
 * A refusal by scope (another chain, another time) says less than one by a policy that applies.
 */
function mostTelling(verdicts: readonly PolicyAnswer[]): PolicyAnswer | undefined {
  return (
    verdicts.find(({ refusal }) => refusal !== undefined && !outOfScope.includes(refusal.code)) ??
    verdicts[0]
  )
}

function firstOf<Facts>(
  rules: Readonly<Record<string, PolicyRule<Facts>>>,
  policy: Policy,
  facts: Facts,
): Refusal | undefined {
  for (const rule of Object.values(rules)) {
    const refusal = rule(policy.terms, facts)
    if (refusal !== undefined) return naming(policy, refusal)
  }
  return undefined
}

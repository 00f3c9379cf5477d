import { type BudgetSpending, claimBudgets } from './budget/budget.js'
import type { PolicyClaim, ReservationClaim } from './decideReservation.js'
import type { AppPolicies } from './loadPolicies.js'
import type { Policy } from './policy.js'
import type { Refusal } from '../errors/refusal.js'
import { callRule } from './rules/callRule.js'
import { chainRule } from './rules/chainRule.js'
import { deploymentRule } from './rules/deploymentRule.js'
import { maxFeeRule } from './rules/maxFeeRule.js'
import type { PolicyRule, RequestFacts } from './rules/rule.js'
import { senderRule } from './rules/senderRule.js'
import { timeRule } from './rules/timeRule.js'
import { webhookRule } from './rules/webhookRule.js'

/** What one policy says; no refusal = it would pay. */
export type PolicyAnswer = { readonly policy: Policy; readonly refusal: Refusal | undefined }

/**
 * The policies that are still in question: all of the account's must pay, and the first of the app's
 * that does; undefined = the app has none, so whatever its account allows is paid.
 */
export type RemainingPolicies = {
  readonly ofAccount: readonly Policy[]
  readonly ofApp: readonly Policy[] | undefined
}

export type PolicyEvaluation<Passed> = { readonly verdicts: readonly PolicyAnswer[] } & (
  | { readonly passed: Passed }
  | { readonly passed: undefined; readonly refusal: Refusal; readonly policyId: string }
)

/** Where and when a policy applies at all. */
const scopeRules: readonly PolicyRule[] = [timeRule, chainRule]
const requestRules: readonly PolicyRule[] = [senderRule, deploymentRule, callRule]

/** Judges a request by all that needs no estimate, no webhook and no money. */
export function evaluateRequest(
  policies: AppPolicies,
  facts: RequestFacts,
): PolicyEvaluation<RemainingPolicies> {
  const inScope = ({ active, terms }: Policy) =>
    active && scopeRules.every((rule) => rule(terms, facts) === undefined)
  const ofAccount = policies.ofAccount
    .filter(inScope)
    .map((policy) => ({ policy, refusal: firstOf(requestRules, policy, facts) }))
  const ofApp = policies.ofApp.map((policy) => ({
    policy,
    refusal: policy.active
      ? firstOf([...scopeRules, ...requestRules], policy, facts)
      : inactive(policy),
  }))
  const isStanding = ({ refusal }: PolicyAnswer) => refusal === undefined
  return conclude(ofAccount, ofApp, {
    ofAccount: ofAccount.map(({ policy }) => policy),
    ofApp:
      policies.ofApp.length === 0
        ? undefined
        : ofApp.filter(isStanding).map(({ policy }) => policy),
  })
}

/** What an operation costs, once that is known. */
export type CostFacts = BudgetSpending & {
  /** wei per gas */
  readonly maxFeePerGas: bigint
  /** How many webhooks were asked, and approved. */
  readonly webhooksAsked: number
}

/** Judges what judgeRequest left standing by fee and cost; what passes is for the ledger. */
export function evaluateCost(
  standing: RemainingPolicies,
  facts: CostFacts,
): PolicyEvaluation<Pick<ReservationClaim, 'ofAccount' | 'ofApp'>> {
  const judge = (
    policy: Policy,
  ): PolicyAnswer & { readonly candidate: PolicyClaim | undefined } => {
    const early =
      webhookRule(policy.terms, facts.webhooksAsked) ?? maxFeeRule(policy.terms, facts.maxFeePerGas)
    if (early !== undefined) return { policy, refusal: naming(policy, early), candidate: undefined }
    const budgets = claimBudgets(policy, facts)
    return 'refusal' in budgets
      ? { policy, refusal: budgets.refusal, candidate: undefined }
      : { policy, refusal: undefined, candidate: { policyId: policy.id, ...budgets } }
  }
  const ofAccount = standing.ofAccount.map(judge)
  const ofApp = standing.ofApp?.map(judge)
  return conclude(ofAccount, ofApp ?? [], {
    ofAccount: ofAccount.flatMap(({ candidate }) => candidate ?? []),
    ofApp: ofApp?.flatMap(({ candidate }) => candidate ?? []),
  })
}

/** Refused by the account's first that refuses, else by the app's first when none of its pays. */
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

const outOfScope = ['POLICY_INACTIVE', 'POLICY_NOT_IN_FORCE', 'CHAIN_NOT_COVERED']

/** That a policy is for another chain says less than why the one for this chain does not pay. */
function mostTelling(verdicts: readonly PolicyAnswer[]): PolicyAnswer | undefined {
  return (
    verdicts.find(({ refusal }) => refusal !== undefined && !outOfScope.includes(refusal.code)) ??
    verdicts[0]
  )
}

function firstOf(
  rules: readonly PolicyRule[],
  policy: Policy,
  facts: RequestFacts,
): Refusal | undefined {
  for (const rule of rules) {
    const refusal = rule(policy.terms, facts)
    if (refusal !== undefined) return naming(policy, refusal)
  }
  return undefined
}

function naming({ name }: Policy, { code, message }: Refusal): Refusal {
  return {
    code,
    message: `Policy ${name}: ${message}`,
  }
}

function inactive(policy: Policy): Refusal {
  return naming(policy, { code: 'POLICY_INACTIVE', message: 'it is not active.' })
}

import { claimBudgets, type Spending } from './budget/budget.js'
import type { Candidate, Claim } from './decideReservation.js'
import type { AppPolicies } from './loadPolicies.js'
import type { Policy } from './policy.js'
import type { Refusal } from './refusal.js'
import { callRule } from './rules/callRule.js'
import { chainRule } from './rules/chainRule.js'
import { deploymentRule } from './rules/deploymentRule.js'
import { maxFeeRule } from './rules/maxFeeRule.js'
import type { RequestFacts, Rule } from './rules/rule.js'
import { senderRule } from './rules/senderRule.js'
import { timeRule } from './rules/timeRule.js'
import { webhookRule } from './rules/webhookRule.js'

/** What one policy says; no refusal = it would pay. */
export type Verdict = { readonly policy: Policy; readonly refusal: Refusal | undefined }

/**
 * The policies that are still in question: all of the account's must pay, and the first of the app's
 * that does; undefined = the app has none, so whatever its account allows is paid.
 */
export type Standing = {
  readonly ofAccount: readonly Policy[]
  readonly ofApp: readonly Policy[] | undefined
}

export type Judgement<Passed> = { readonly verdicts: readonly Verdict[] } & (
  | { readonly passed: Passed }
  | { readonly passed: undefined; readonly refusal: Refusal; readonly policyId: string }
)

/** Where and when a policy applies at all. */
const scopeRules: readonly Rule[] = [timeRule, chainRule]
const requestRules: readonly Rule[] = [senderRule, deploymentRule, callRule]

/** Judges a request by all that needs no estimate, no webhook and no money. */
export function judgeRequest(policies: AppPolicies, facts: RequestFacts): Judgement<Standing> {
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
  const isStanding = ({ refusal }: Verdict) => refusal === undefined
  return conclude(ofAccount, ofApp, {
    ofAccount: ofAccount.map(({ policy }) => policy),
    ofApp:
      policies.ofApp.length === 0
        ? undefined
        : ofApp.filter(isStanding).map(({ policy }) => policy),
  })
}

/** What an operation costs, once that is known. */
export type CostFacts = Spending & {
  /** wei per gas */
  readonly maxFeePerGas: bigint
  /** How many webhooks were asked, and approved. */
  readonly webhooksAsked: number
}

/** Judges what judgeRequest left standing by fee and cost; what passes is for the ledger. */
export function judgeCost(
  standing: Standing,
  facts: CostFacts,
): Judgement<Pick<Claim, 'ofAccount' | 'ofApp'>> {
  const judge = (policy: Policy): Verdict & { readonly candidate: Candidate | undefined } => {
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
  ofAccount: readonly Verdict[],
  ofApp: readonly Verdict[],
  passed: Passed,
): Judgement<Passed> {
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
function mostTelling(verdicts: readonly Verdict[]): Verdict | undefined {
  return (
    verdicts.find(({ refusal }) => refusal !== undefined && !outOfScope.includes(refusal.code)) ??
    verdicts[0]
  )
}

function firstOf(rules: readonly Rule[], policy: Policy, facts: RequestFacts): Refusal | undefined {
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

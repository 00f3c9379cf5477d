import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Address } from 'viem'
import type { Refusal } from '../../base/errors/catalogue.js'
import type { Database } from '../../db/database.js'
import type { Draft } from '../../erc4337/draft.js'
import { readCountersUsed } from '../ledger/budgetCounters.js'
import { type BudgetClaim, budgetExceeded, claimBudgets } from './budget/budget.js'
import { delegatorsOf } from './decodeCalls.js'
import type { Budget } from './policy.js'
import type { Policy } from './policySchema.js'
import { estimateRules, naming, requestRules, scopeRules } from './rules/policyRules.js'

/** An operation on which a draft of a policy is tried. */
export type TriedOperation = {
  readonly chainId: number
  readonly sender: Address
  readonly draft: Pick<Draft, 'callData' | 'factory' | 'factoryData'>
  /** wei per gas; undefined = not said, then no rule on it is applied. */
  readonly maxFeePerGas: bigint | undefined
  /** wei at most; undefined = not known, then budgets of amounts are not applied. */
  readonly maxCost: bigint | undefined
}

/** An operation of the past. */
export type PastOperation = TriedOperation & {
  /** Unix seconds */
  readonly at: number
  /** The wei that a sponsorship of it would have cost in the end; undefined = it was never included, so all was given back. */
  readonly cost: bigint | undefined
}

/** The word of one rule on one operation; without a refusal it passes. */
type RuleVerdict = { readonly rule: string; readonly refusal: Refusal | undefined }

/** A part of a policy that a trial leaves out, because nobody knows what it would have said. */
export type Unevaluated = 'webhooks' | 'budgetsInUsd' | 'budgetsOfAmounts' | 'fees' | 'validity'

/** Each verdict of a draft on one operation, in the order in which the rules are applied. */
export type PolicyTrial = readonly RuleVerdict[]

/** A policy as it would bind an app. */
export type TriedPolicy = Policy & { readonly appId: string }

/** The parts of the draft that its trial on these operations leaves out. */
export function unevaluatedOf(
  { terms }: Policy,
  operations: readonly (TriedOperation | PastOperation)[],
): readonly Unevaluated[] {
  const { budgets, webhookMode, maxFeePerGas, validFrom, validUntil } = terms
  const lacks = (member: 'maxCost' | 'maxFeePerGas') =>
    operations.some((operation) => operation[member] === undefined)
  const isOfPast = operations.some((operation) => 'at' in operation)
  const parts: Readonly<Record<Unevaluated, boolean>> = {
    webhooks: webhookMode === 'always',
    budgetsInUsd: budgets.some(({ unit }) => unit === 'usd'),
    budgetsOfAmounts: budgets.some(({ unit }) => unit === 'wei') && lacks('maxCost'),
    fees: maxFeePerGas !== undefined && lacks('maxFeePerGas'),
    validity: isOfPast && (validFrom !== undefined || validUntil !== undefined),
  }
  return (Object.keys(parts) as Unevaluated[]).filter((part) => parts[part])
}

/**
 * The word of a draft on one operation at `at` (Unix seconds). Its budgets are as far used as the counters of the
 * policy with the draft's id are now.
 */
export async function tryPolicyNow(
  db: Database,
  policy: TriedPolicy,
  operation: TriedOperation,
  at: number,
): Promise<PolicyTrial> {
  const claimed = claim(policy, operation, at)
  const claims = 'claims' in claimed ? claimed.claims : []
  const queries = claims.map((each) => ({ ...each, oldest: BigInt(each.oldest) }))
  const used = await readCountersUsed(db, queries)
  const { validFrom, validUntil } = policy.terms
  const usedOf = (each: BudgetClaim) => used[claims.indexOf(each)] ?? 0n
  return verdictsOf(policy, operation, { at, validFrom, validUntil }, claimed, usedOf)
}

/** Milliseconds after which a replay lets others have the thread. */
const TURN = 5

/**
 * The word of a draft on each operation of an app, the oldest first, as if the draft had been in force when they
 * were sent, with empty budgets before the first of them. What a budget had to hold for an operation that
 * passed is counted as the ledger would have settled it: by its real cost, or not at all where it was never
 * included.
 */
export async function replayPolicy(
  policy: TriedPolicy,
  operations: readonly PastOperation[],
): Promise<readonly PolicyTrial[]> {
  const counters = new Map<string, Map<number, bigint>>()
  const trials: PolicyTrial[] = []
  let turn = performance.now()
  for (const operation of operations) {
    const { at, cost } = operation
    const claimed = claim(policy, operation, at)
    const trial = verdictsOf(policy, operation, { at }, claimed, (each) => sumSince(counters, each))
    trials.push(trial)
    const passes = trial.every(({ refusal }) => refusal === undefined)
    if (passes && cost !== undefined && 'claims' in claimed)
      for (const each of claimed.claims) charge(counters, each, cost)
    if (performance.now() - turn < TURN) continue
    await nextTurn()
    turn = performance.now()
  }
  return trials
}

/** The moment of a trial; without its bounds the draft counts as in force. */
type Moment = { readonly at: number } & Partial<Pick<Policy['terms'], 'validFrom' | 'validUntil'>>

type Claimed = ReturnType<typeof claimBudgets>

function verdictsOf(
  policy: TriedPolicy,
  operation: TriedOperation,
  { at, validFrom, validUntil }: Moment,
  claimed: Claimed,
  usedOf: (claim: BudgetClaim) => bigint,
): PolicyTrial {
  const terms = { ...policy.terms, validFrom, validUntil }
  // An operation that names a factory is taken for one that makes its account.
  const facts = { ...operation, at, senderExists: operation.draft.factory === undefined }
  const { maxFeePerGas } = operation
  const requested = Object.entries({ ...scopeRules, ...requestRules }).map(([rule, apply]) => ({
    rule,
    refusal: apply(terms, facts),
  }))
  // Whether webhooks would have approved is left out; that there is one is assumed.
  const estimated =
    maxFeePerGas === undefined
      ? []
      : Object.entries(estimateRules).map(([rule, apply]) => ({
          rule,
          refusal: apply(terms, { maxFeePerGas, webhooksAsked: 1 }),
        }))
  const named = [...requested, ...estimated].map(({ rule, refusal }) => ({
    rule,
    refusal: refusal && naming(policy, refusal),
  }))
  return [...named, { rule: 'budgets', refusal: exceededIn(claimed, usedOf) }]
}

/** The claims on those budgets of which it is known what they would hold. */
function claim(policy: TriedPolicy, operation: TriedOperation, at: number): Claimed {
  const { sender, maxCost = 0n } = operation
  const isKnown = ({ unit }: Budget) =>
    unit === 'count' || (unit === 'wei' && operation.maxCost !== undefined)
  const terms = { ...policy.terms, budgets: policy.terms.budgets.filter(isKnown) }
  const delegators = delegatorsOf(operation.draft)
  const spending = { appId: policy.appId, sender, delegators, maxCost, at, price: undefined }
  return claimBudgets({ ...policy, terms }, spending)
}

function exceededIn(claimed: Claimed, usedOf: (claim: BudgetClaim) => bigint): Refusal | undefined {
  if ('refusal' in claimed) return claimed.refusal
  const exceeded = claimed.claims.find((each) => usedOf(each) + each.amount > each.limit)
  return exceeded && budgetExceeded(exceeded, usedOf(exceeded))
}

type Counters = Map<string, Map<number, bigint>>

function counterOf({ budget, subject }: BudgetClaim): string {
  return `${budget} ${subject}`
}

function sumSince(counters: Counters, claimed: BudgetClaim): bigint {
  let sum = 0n
  for (const [bucket, used] of counters.get(counterOf(claimed)) ?? [])
    if (bucket >= claimed.oldest) sum += used
  return sum
}

function charge(counters: Counters, claimed: BudgetClaim, cost: bigint): void {
  const { unit, bucket } = claimed
  const buckets = counters.get(counterOf(claimed)) ?? new Map<number, bigint>()
  counters.set(counterOf(claimed), buckets)
  buckets.set(bucket, (buckets.get(bucket) ?? 0n) + (unit === 'count' ? 1n : cost))
}

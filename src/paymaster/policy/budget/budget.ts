import type { Address } from 'viem'
import type { Refusal } from '../../../base/errors/catalogue.js'
import { timeText } from '../../../base/unixNow.js'
import type { BudgetUnit } from '../../../base/vocabulary.js'
import type { Budget, BudgetSubject, Window } from '../policy.js'
import { formatUsd, type NativePrice, toMicroUsd } from '../price.js'

/** The amount that one sponsorship would take from one budget. */
export type BudgetClaim = {
  readonly policyId: string
  readonly policyName: string
  /**
   * The key of the budget in its policy; a new limit keeps it, a new window begins another budget.
   */
  readonly budget: string
  /** The sender, the delegator, the app, or empty for the whole account. */
  readonly subject: string
  readonly unit: BudgetUnit
  /** In the unit, as `amount` is: wei, millionths of a USD, or operations. */
  readonly limit: bigint
  readonly amount: bigint
  /** Millionths of a USD per 10^18 wei, where the unit is usd. */
  readonly price: bigint | undefined
  /** Unix seconds: the bucket that it is counted in; `oldest` is the oldest that counts. */
  readonly bucket: number
  readonly oldest: number
  /** Unix seconds: from then on all of the limit is there again; undefined where there is no such time. */
  readonly ends: number | undefined
}

/** The spending that a sponsorship would cause. */
export type BudgetSpending = {
  readonly appId: string
  readonly sender: Address
  /** The accounts whose delegations the operation redeems; undefined = it makes calls that cannot be looked into. */
  readonly delegators: readonly Address[] | undefined
  /** wei at most */
  readonly maxCost: bigint
  /** Unix seconds */
  readonly at: number
  /** undefined = no price is recent enough */
  readonly price: NativePrice | undefined
}

/** The key by which the ledger knows a budget of a policy. */
export function budgetKey(budget: Budget): string {
  return budget.per === 'operation'
    ? `operation ${budget.unit}`
    : `${budget.per} ${budget.unit} ${windowName(budget.window)}`
}

/** The part of a policy that has budgets. */
type Budgeted = {
  readonly id: string
  readonly name: string
  readonly terms: { readonly budgets: readonly Budget[] }
}

/**
 * The claims on a policy's budgets. A refusal when a budget in USD has no price, or when the
 * operation may cost more than the policy pays for one, or when there are more than `left` claims.
 */
export function claimBudgets(
  { id, name, terms }: Budgeted,
  spending: BudgetSpending,
  left = MOST_CLAIMS,
): { readonly claims: readonly BudgetClaim[] } | { readonly refusal: Refusal } {
  const { at, price } = spending
  const claims: BudgetClaim[] = []
  for (const budget of terms.budgets) {
    if (budget.unit === 'usd' && price === undefined) return { refusal: noPrice(name) }
    const amount = amountOf(budget.unit, spending)
    if (budget.per === 'operation') {
      if (amount <= budget.limit) continue
      const message = `Policy ${name}: the operation may cost ${amountText(budget.unit, amount)}; the policy pays ${amountText(budget.unit, budget.limit)} per operation.`
      return { refusal: { code: 'BUDGET_EXCEEDED', message } }
    }
    const subjects = subjectsOf(budget.per, spending)
    if (subjects === undefined || claims.length + subjects.length > left)
      return { refusal: unreadable(name) }
    const { current, oldest } = bucketsAt(budget.window, at)
    const common = {
      policyId: id,
      policyName: name,
      budget: budgetKey(budget),
      unit: budget.unit,
      limit: budget.limit,
      amount,
      price: budget.unit === 'usd' ? price?.microUsd : undefined,
      bucket: current,
      oldest,
      ends: endOf(budget.window, current),
    }
    claims.push(...subjects.map((subject) => ({ ...common, subject })))
  }
  return { claims }
}

const MOST_DELEGATORS = 50
/**
 * The claims of one sponsorship, which are booked while its payer is locked. That is as many as the policies of an app
 * and its account can have budgets, so only delegators take more.
 */
export const MOST_CLAIMS = 10_000

/** Whom a budget is counted for: each delegator whole, because nobody can say what part of the cost is whose. */
function subjectsOf(
  per: BudgetSubject,
  { sender, delegators, appId }: BudgetSpending,
): readonly string[] | undefined {
  if (per === 'delegator')
    return delegators && delegators.length <= MOST_DELEGATORS ? delegators : undefined
  if (per === 'account') return ['']
  return [per === 'sender' ? sender : appId]
}

function unreadable(name: string): Refusal {
  return {
    code: 'CALL_DATA_UNKNOWN',
    message: `Policy ${name} has a budget per delegator, and the operation makes calls that cannot be decoded, or for more than ${MOST_DELEGATORS} delegators, or its policies have more than ${MOST_CLAIMS} budgets for them.`,
  }
}

function amountOf(unit: BudgetUnit, { maxCost, price }: BudgetSpending): bigint {
  if (unit === 'count') return 1n
  return unit === 'usd' && price !== undefined ? toMicroUsd(maxCost, price.microUsd) : maxCost
}

function noPrice(name: string): Refusal {
  return {
    code: 'PRICE_UNAVAILABLE',
    message: `Policy ${name} has a budget in USD and there is no recent price of the chain's native token. The operator configures nativePrices or usdPrice.`,
  }
}

/** The refusal of a claim that finds too little left; `used` is in the unit of the claim. */
export function budgetExceeded(claim: BudgetClaim, used: bigint): Refusal {
  const text = (amount: bigint) => amountText(claim.unit, amount)
  const [per, , window] = claim.budget.split(' ')
  const end = claim.ends === undefined ? '' : ` until ${timeText(claim.ends)}`
  const period = window === 'never' ? '' : `, window ${window}${end}`
  return {
    code: 'BUDGET_EXCEEDED',
    message: `Policy ${claim.policyName}: ${text(used)} of ${text(claim.limit)} are spent or reserved (per ${per}${period}); the operation may take ${text(claim.amount)} more.`,
  }
}

function amountText(unit: BudgetUnit, amount: bigint): string {
  if (unit === 'usd') return formatUsd(amount)
  return unit === 'wei' ? `${amount} wei` : `${amount} operations`
}

/** A rolling window moves in steps of this part of itself. */
const ROLLING_STEPS = 60

/**
 * The buckets of a window at `at`, each named by its beginning in Unix seconds: the one that a reservation of now is
 * counted in, and the oldest that still counts. An aligned window is one bucket. A rolling window
 * is many small ones, and a bucket that is partly within the window counts whole: so never more
 * than the limit is spent in any span of that length, and sometimes a little less.
 */
export function bucketsAt(window: Window, at: number) {
  if (typeof window === 'object') {
    const size = Math.ceil(window.rollingSeconds / ROLLING_STEPS)
    const current = floorTo(at, size)
    return { current, oldest: floorTo(at - window.rollingSeconds, size) }
  }
  const current = beginOf(window, at)
  return { current, oldest: current }
}

const HOUR = 3_600
const DAY = 24 * HOUR

/** 1 January 1970 was a Thursday. */
const FIRST_MONDAY = 4 * DAY

function beginOf(window: Exclude<Window, object>, at: number): number {
  switch (window) {
    case 'never':
      return 0
    case 'hour':
      return floorTo(at, HOUR)
    case 'day':
      return floorTo(at, DAY)
    case 'week':
      return FIRST_MONDAY + floorTo(at - FIRST_MONDAY, 7 * DAY)
    case 'month': {
      const date = new Date(at * 1000)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000
    }
  }
}

/** The end of the bucket that began at `begin` (Unix seconds); undefined where a window never ends or moves. */
export function endOf(window: Window, begin: number): number | undefined {
  if (typeof window === 'object') return undefined
  switch (window) {
    case 'never':
      return undefined
    case 'hour':
      return begin + HOUR
    case 'day':
      return begin + DAY
    case 'week':
      return begin + 7 * DAY
    case 'month': {
      const date = new Date(begin * 1000)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1000
    }
  }
}

function floorTo(value: number, step: number): number {
  return Math.floor(value / step) * step
}

/** The name of a window in the keys of budgets and in messages. */
function windowName(window: Window): string {
  return typeof window === 'object' ? `rolling-${window.rollingSeconds}s` : window
}

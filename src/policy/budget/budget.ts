import type { Address } from 'viem'
import type { BudgetUnit } from '../../base/vocabulary.js'
import type { Refusal } from '../../errors/refusal.js'
import type { Budget, Policy } from '../policy.js'
import { formatUsd, type NativePrice, toMicroUsd } from '../price.js'
import { bucketsAt, endOf, windowName } from './window.js'

/** The amount that one sponsorship would take from one budget. */
export type BudgetClaim = {
  readonly policyId: string
  readonly policyName: string
  /**
   * The key of the budget in its policy; a new limit keeps it, a new window begins another budget.
   */
  readonly budget: string
  /** The sender, the app, or empty for the whole account. */
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

/**
 * The claims on a policy's budgets. A refusal when a budget in USD has no price, or when the
 * operation may cost more than the policy pays for one.
 */
export function claimBudgets(
  { id, name, terms }: Policy,
  spending: BudgetSpending,
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
    const { current, oldest } = bucketsAt(budget.window, at)
    claims.push({
      policyId: id,
      policyName: name,
      budget: budgetKey(budget),
      subject: subjectOf(budget.per, spending),
      unit: budget.unit,
      limit: budget.limit,
      amount,
      price: budget.unit === 'usd' ? price?.microUsd : undefined,
      bucket: current,
      oldest,
      ends: endOf(budget.window, current),
    })
  }
  return { claims }
}

function subjectOf(per: 'sender' | 'app' | 'account', { sender, appId }: BudgetSpending): string {
  if (per === 'account') return ''
  return per === 'sender' ? sender : appId
}

function amountOf(unit: BudgetUnit, { maxCost, price }: BudgetSpending): bigint {
  if (unit === 'count') return 1n
  return unit === 'usd' && price !== undefined ? toMicroUsd(maxCost, price.microUsd) : maxCost
}

function noPrice(name: string): Refusal {
  return {
    code: 'PRICE_UNAVAILABLE',
    message: `Policy ${name} has a budget in USD and there is no recent price of the chain's native token. The operator configures nativePrices.`,
  }
}

/** The refusal of a claim that finds too little left; `used` is in the unit of the claim. */
export function budgetExceeded(claim: BudgetClaim, used: bigint): Refusal {
  const text = (amount: bigint) => amountText(claim.unit, amount)
  const [per, , window] = claim.budget.split(' ')
  const end = claim.ends === undefined ? '' : ` until ${new Date(claim.ends * 1000).toISOString()}`
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

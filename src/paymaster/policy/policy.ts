import type { AbiParameter, Address, Hex } from 'viem'
import type { BudgetUnit } from '../../base/vocabulary.js'

/**
 * The time over which a budget adds up. Aligned windows begin in UTC: full hour, midnight, Monday,
 * first of the month.
 */
export type Window =
  | 'never'
  | 'hour'
  | 'day'
  | 'week'
  | 'month'
  /** The last so many seconds. */
  | { readonly rollingSeconds: number }

/**
 * The sponsorships that a budget counts together: those of one sender, of one account whose delegations are redeemed,
 * of one app, or of all apps of the account. `account` belongs in a policy of the account only.
 */
export const budgetSubjects = ['sender', 'delegator', 'app', 'account'] as const

export type BudgetSubject = (typeof budgetSubjects)[number]

/** A limit in wei, millionths of a USD, or operations. */
export type Budget =
  | {
      readonly per: 'operation'
      readonly unit: Exclude<BudgetUnit, 'count'>
      readonly limit: bigint
    }
  | {
      readonly per: BudgetSubject
      readonly unit: BudgetUnit
      readonly limit: bigint
      readonly window: Window
    }

/**
 * A bound on one argument of a call: all comparisons must hold; other values than numbers are only
 * compared for equality.
 */
export type Constraint = {
  /** Positions from the outside in, e.g. `[0, 2]` = the third member of the first parameter. */
  readonly path: readonly number[]
  readonly comparisons: readonly ValueComparison[]
}

/** A comparison of a decoded argument with a value that the policy names. */
export type ValueComparison =
  | { readonly operator: '$eq' | '$gt' | '$gte' | '$lt' | '$lte'; readonly value: string }
  | { readonly operator: '$in'; readonly value: readonly string[] }

/** One kind of call that a policy pays for. */
export type AllowedCall = {
  /** `sender` = the account itself. */
  readonly target: Address | 'any' | 'sender'
  /** undefined = any, plain transfers included; null = plain transfers only. */
  readonly function:
    | { readonly selector: Hex; readonly inputs: readonly AbiParameter[] | undefined }
    | null
    | undefined
  /** wei that the call may carry; undefined = any */
  readonly maxValue: bigint | undefined
  readonly where: readonly Constraint[]
}

import { z } from 'zod'
import { greatest } from '../../base/bigints.js'
import { type BudgetUnit, budgetUnits } from '../../base/vocabulary.js'
import type { Database } from '../../db/database.js'
import type { AnswerOf } from '../../tenants/schemas.js'
import { readCounterUses, readFullestCounters } from '../ledger/budgetCounters.js'
import { bucketsAt, budgetKey } from './budget/budget.js'
import { findPolicy } from './managePolicies.js'
import { termsSchema } from './policySchema.js'

/** A budget that other costs would use up. Amounts in the unit: wei or millionths of a USD. */
export const spentBudget = z.object({
  per: z.string(),
  unit: z.enum(budgetUnits),
  /** `day`, `rolling-3600s`, …; `operation` for the budget of single ones */
  window: z.string(),
  /** The sender, delegator or app; empty for the account, and for single operations. */
  subject: z.string(),
  limit: z.string(),
  /** The most that was used in a window. */
  used: z.string(),
  forecast: z.string(),
})

type Forecast = {
  /** Unix seconds: windows from then on are looked at. */
  readonly since: number
  readonly now: number
  /** wei by present costs as wei by others; the same for amounts of other units. */
  readonly grown: (amount: bigint) => bigint
  /** The highest cost that was reserved for one operation, and that would be, in the unit; undefined = not known. */
  readonly mostReserved: (
    unit: BudgetUnit,
  ) => { readonly used: bigint; readonly forecast: bigint } | undefined
}

const MOST_SUBJECTS = 10

/**
 * The budgets of a policy that would not have been enough. A budget for ever is left out: what is used of it stays, and
 * when it ends nobody knows.
 */
export async function spentBudgets(
  db: Database,
  { accountId, policyId }: { readonly accountId: string; readonly policyId: string },
  { since, now, grown, mostReserved }: Forecast,
): Promise<readonly AnswerOf<typeof spentBudget>[]> {
  const policy = await findPolicy(db, accountId, policyId)
  if (policy === undefined) return []
  const { budgets } = termsSchema.parse(policy.terms)
  const found = budgets.map(async (budget) => {
    const { per, unit, limit } = budget
    if (budget.per === 'operation') {
      const most = mostReserved(unit)
      return most === undefined ? [] : [{ per, unit, window: per, subject: '', limit, ...most }]
    }
    if (unit === 'count' || budget.window === 'never') return []
    const name = budgetKey(budget)
    const [, , window = ''] = name.split(' ')
    const isRolling = typeof budget.window === 'object'
    const { oldest } = bucketsAt(budget.window, isRolling ? now : since)
    const query = { policyId, budget: name, oldest: BigInt(oldest) }
    const read = isRolling ? readCounterUses : readFullestCounters
    const uses = await read(db, query, MOST_SUBJECTS)
    return uses.map(({ subject, used }) => ({
      per,
      unit,
      window,
      subject,
      limit,
      used,
      forecast: greatest(used, grown(used)),
    }))
  })
  return (await Promise.all(found)).flat().filter(({ forecast, limit }) => forecast > limit)
}

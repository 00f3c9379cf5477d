import type { BudgetUnit } from '../../base/vocabulary.js'
import type { Database } from '../../store/database.js'
import { type CounterUse, readCounterUses } from '../../store/ledger/budgetCounters.js'
import type { PolicyTerms } from '../policy.js'
import { budgetKey } from './budget.js'
import { bucketsAt, endOf } from './window.js'

/** A budget of a policy and what is used of it. Amounts in the unit: wei, millionths of a USD, operations. */
export type BudgetInUse = {
  readonly per: 'sender' | 'app' | 'account'
  readonly unit: BudgetUnit
  /** `day`, `rolling-3600s`, … */
  readonly window: string
  readonly limit: bigint
  /** Unix seconds: the beginning of the window; 0 = it has none. */
  readonly since: number
  /** Unix seconds: the end of the window, at which it begins anew; null = it moves, or never ends. */
  readonly until: number | null
  /** Those that used most: senders, apps, or the account as an empty name. */
  readonly subjects: readonly CounterUse[]
}

const MOST_SUBJECTS = 10

/** The budgets of a policy as they are used at `at` (Unix seconds); those of single operations use nothing up. */
export function budgetsInUse(
  db: Database,
  policyId: string,
  { budgets }: PolicyTerms,
  at: number,
): Promise<readonly BudgetInUse[]> {
  return Promise.all(
    budgets.flatMap((budget) => {
      if (budget.per === 'operation') return []
      const { per, unit, limit } = budget
      const name = budgetKey(budget)
      const { current, oldest } = bucketsAt(budget.window, at)
      const [, , window = ''] = name.split(' ')
      const query = { policyId, budget: name, oldest: BigInt(oldest) }
      return readCounterUses(db, query, MOST_SUBJECTS).then((subjects) => ({
        per,
        unit,
        window,
        limit,
        since: oldest,
        until: endOf(budget.window, current) ?? null,
        subjects,
      }))
    }),
  )
}

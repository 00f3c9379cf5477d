import { sql } from 'kysely'
import type { Database } from '../../../src/db/database.js'
import type { CounterQuery } from '../../../src/paymaster/ledger/budgetCounters.js'

/** What the counters of a budget hold together from `oldest` on, in its unit. */
export async function usedOf(
  db: Database,
  { policyId, budget, subject, oldest }: CounterQuery,
): Promise<bigint> {
  const { used } = await db
    .selectFrom('budget_counters')
    .select(sql<bigint>`coalesce(sum(used), 0)::numeric(78, 0)`.as('used'))
    .where('policy_id', '=', policyId)
    .where('budget', '=', budget)
    .where('subject', '=', subject)
    .where('bucket', '>=', oldest)
    .executeTakeFirstOrThrow()
  return used
}

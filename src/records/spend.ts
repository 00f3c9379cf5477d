import { sql } from 'kysely'
import type { Database } from '../db/database.js'

/** The cost of one day (UTC) by app, chain and the policy that decided. */
type SpendOfDay = {
  /** `2026-11-23` */
  readonly day: string
  readonly appId: string
  readonly appName: string
  readonly chainId: bigint
  readonly policyId: string | null
  readonly policyName: string | null
  readonly operations: bigint
  readonly wei: bigint
  /** wei of them for gas that limits left unused, as far as that is known. */
  readonly wastedWei: bigint
  /** Operations of which it is known. */
  readonly measured: bigint
}

type SpendQuery = {
  /** Undefined = all accounts, for the operator. */
  readonly accountId: string | undefined
  readonly from: Date
  readonly until: Date
}

/** Lines that one question may have. */
export const MOST_SPEND_LINES = 20_000

/**
 * Wei that settled sponsorships cost, by the day on which they were signed, the oldest first; one line more than
 * MOST_SPEND_LINES where there are more.
 */
export async function readSpend(
  db: Database,
  { accountId, from, until }: SpendQuery,
): Promise<readonly SpendOfDay[]> {
  const own = accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`
  const { rows } = await sql<SpendOfDay>`
    select to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, a.id as "appId",
      a.name as "appName", r.chain_id as "chainId", d.policy_id as "policyId",
      p.name as "policyName", count(*) as operations,
      sum(r.actual_cost)::numeric(78, 0) as wei,
      coalesce(sum(r.wasted), 0)::numeric(78, 0) as "wastedWei", count(r.wasted) as measured
    from apps a join reservations r on r.app_id = a.id and r.state in ('included', 'settled')
        and r.created_at >= ${from} and r.created_at < ${until}
      left join lateral (
        select e.policy_id from decisions e where e.reservation_id = r.id and e.sponsored
        order by e.created_at desc limit 1
      ) d on true
      left join policies p on p.id = d.policy_id
    where r.actual_cost > 0 and ${own}
    group by 1, 2, 3, 4, 5, 6 order by 1, 3, 4, 6 limit ${MOST_SPEND_LINES + 1}`.execute(db)
  return rows
}

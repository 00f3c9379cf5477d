import { sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../db/database.js'
import { type AnswerOf, id, wei } from '../tenants/schemas.js'

/** The cost of one day (UTC) by app, chain and the policy that decided. */
export const spendOfDay = z.object({
  day: z.iso.date(),
  appId: id,
  appName: z.string(),
  chainId: z.int(),
  /** The policy that decided; null = none did. */
  policyId: id.nullable(),
  policyName: z.string().nullable(),
  operations: z.string(),
  wei,
  /** Of these, about what EntryPoints charged for gas limits that were left unused. */
  wastedWei: wei,
  /** The operations of which that is known; the others count as nothing. */
  measured: z.string(),
})

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
): Promise<readonly AnswerOf<typeof spendOfDay>[]> {
  const own = accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`
  const { rows } = await sql<AnswerOf<typeof spendOfDay>>`
    select to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, a.id as "appId",
      a.name as "appName", r.chain_id::float8 as "chainId", d.policy_id as "policyId",
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

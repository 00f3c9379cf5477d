import { sql } from 'kysely'
import { z } from 'zod'
import { Lru } from '../base/lru.js'
import type { Database } from '../db/database.js'
import { allOf, haveValues } from '../db/page.js'
import { type AnswerOf, id, time, wei } from '../tenants/schemas.js'

/** The period and the part of the records that an overview is about. */
type OverviewQuery = {
  /** Undefined = all accounts, for the operator. */
  readonly accountId: string | undefined
  readonly appId: string | undefined
  readonly chainIds: readonly number[]
  readonly from: Date
  readonly until: Date
  /** Seconds of a bucket. */
  readonly step: number
}

const count = z.string()

export const overview = z.object({
  from: time,
  until: time,
  step: z.int(),
  /** Those that were received within a step, by what became of them since. */
  operations: z.array(
    z.object({
      at: time,
      received: count,
      included: count,
      /** Of the included ones those whose call reverted. */
      reverted: count,
      dropped: count,
      /** Pooled, bundled or replaced. */
      others: count,
    }),
  ),
  totals: z.object({
    received: count,
    included: count,
    reverted: count,
    dropped: count,
    replaced: count,
    inFlight: count,
    /** Requests that were answered with an error. */
    refused: count,
    /** Decisions against a sponsorship. */
    notSponsored: count,
    /** Of those that ended: the share that was included and did not revert; null without any. */
    success: z.number().nullable(),
    receivedPerSecond: z.number(),
    includedPerSecond: z.number(),
  }),
  /** Seconds from the receipt to the inclusion of those that are included; null without any. */
  inclusionSeconds: z.object({ p50: z.number().nullable(), p95: z.number().nullable() }),
  /** wei that settled sponsorships cost, by app, chain and bucket of their reservation. */
  spend: z.array(z.object({ at: time, appId: id, chainId: z.int(), wei })),
  /**
   * Refused requests, and sponsorships that were refused, by rule or code; the most frequent. A refused request for a
   * sponsorship has a decision and counts once, as that.
   */
  refusals: z.array(z.object({ code: z.string(), count })),
})

type Answer = AnswerOf<typeof overview>

type OperationBucket = { readonly at: Date } & {
  /** `replaced`: of the others the replaced ones. */
  readonly [Name in Exclude<keyof Answer['operations'][number], 'at'> | 'replaced']: bigint
}

/** Codes that an overview names. */
const MOST_CODES = 20

/** What happened within a period. Reads every operation of it: callers bound the period and remember the answer. */
export async function readOverview(db: Database, query: OverviewQuery) {
  const { accountId, appId, chainIds, from, until, step } = query
  const bucket = (column: string) =>
    sql`date_bin(make_interval(secs => ${step}), ${sql.ref(column)}, ${from}::timestamptz)`
  const chains = sql`any(${chainIds.map(BigInt)}::bigint[])`
  const scope = allOf(haveValues('a', { account_id: accountId, id: appId }))
  const received = sql`apps a join operations o on o.app_id = a.id and o.received_at >= ${from}
    and o.received_at < ${until} and o.chain_id = ${chains}`
  const [operations, reverted, times, spend, refusals] = await Promise.all([
    sql<Omit<OperationBucket, 'reverted'>>`select ${bucket('o.received_at')} as at,
        count(*) as received, count(*) filter (where o.state = 'included') as included,
        count(*) filter (where o.state = 'dropped') as dropped,
        count(*) filter (where o.state not in ('included', 'dropped')) as others,
        count(*) filter (where o.state = 'replaced') as replaced
      from ${received} where ${scope} group by 1 order by 1`.execute(db),
    sql<{ at: Date; count: bigint }>`select ${bucket('o.received_at')} as at, count(*) as count
      from inclusions i join operations o on o.chain_id = i.chain_id and o.hash = i.user_op_hash
        join apps a on a.id = o.app_id
      where not i.success and i.block_time >= ${from} and i.chain_id = ${chains}
        and o.received_at >= ${from} and o.received_at < ${until} and ${scope}
      group by 1`.execute(db),
    sql<Answer['inclusionSeconds']>`select
        percentile_cont(0.5) within group (order by seconds) as p50,
        percentile_cont(0.95) within group (order by seconds) as p95
      from (
        select extract(epoch from o.updated_at - o.received_at)::float8 as seconds
        from ${received} where ${scope} and o.state = 'included'
        order by o.received_at desc limit 10000
      ) newest`.execute(db),
    sql<Answer['spend'][number]>`select ${bucket('r.created_at')} as at, r.app_id as "appId",
        r.chain_id::float8 as "chainId", sum(r.actual_cost)::numeric(78, 0) as wei
      from apps a join reservations r on r.app_id = a.id and r.chain_id = ${chains}
        and r.state in ('included', 'settled') and r.created_at >= ${from} and r.created_at < ${until}
      where ${scope} group by 1, 2, 3 order by 1, 2, 3`.execute(db),
    sql<{ code: string; count: bigint; requests: bigint; sponsorships: bigint }>`select code,
        count(*) filter (where not has_decision) as count,
        (sum(count(*) filter (where is_request)) over ())::bigint as requests,
        (sum(count(*) filter (where not is_request)) over ())::bigint as sponsorships from (
        select coalesce(r.rule, r.code::text) as code, true as is_request,
          r.data is not null and r.data::json->>'decisionId' is not null as has_decision
        from apps a join refusals r on r.app_id = a.id
          and r.at >= ${from} and r.at < ${until} and r.chain_id = ${chains} where ${scope}
        union all
        select d.code, false, false from apps a join decisions d on d.app_id = a.id and not d.sponsored
          and d.created_at >= ${from} and d.created_at < ${until} and d.chain_id = ${chains}
        where ${scope}
      ) refused group by code order by count desc, code limit ${MOST_CODES}`.execute(db),
  ])
  const failures = new Map(reverted.rows.map(({ at, count }) => [at.getTime(), count]))
  return {
    operations: operations.rows.map((row) => ({
      ...row,
      reverted: failures.get(row.at.getTime()) ?? 0n,
    })),
    inclusionSeconds: times.rows[0] ?? { p50: null, p95: null },
    spend: spend.rows,
    refusals: refusals.rows.flatMap(({ code, count }) => (count > 0n ? [{ code, count }] : [])),
    /** All refused requests, and all sponsorships that were refused; many are both. */
    refused: refusals.rows[0] ?? { requests: 0n, sponsorships: 0n },
  }
}

/** Overviews, each remembered for a while: a wall of screens asks the database once. */
export type Overviews = (query: OverviewQuery) => ReturnType<typeof readOverview>

/** Milliseconds. */
const LIFE = 10_000
const MOST_REMEMBERED = 500

export function createOverviews(database: Database): Overviews {
  const known = new Lru<string, { readonly until: number; readonly answer: ReturnType<Overviews> }>(
    MOST_REMEMBERED,
  )
  return (query) => {
    const name = JSON.stringify(query)
    const remembered = known.get(name)
    if (remembered !== undefined && remembered.until > performance.now()) return remembered.answer
    const answer = readOverview(database, query)
    known.set(name, { until: performance.now() + LIFE, answer })
    // A failed query is no answer and must not be remembered as one.
    answer.catch(() => known.set(name, { until: 0, answer }))
    return answer
  }
}

import { type RawBuilder, sql } from 'kysely'
import type { Database, Transaction } from '../../db/database.js'

/** One bucket of one budget of one subject. */
export type CounterKey = {
  readonly policyId: string
  readonly budget: string
  readonly subject: string
  /** Unix seconds at which the bucket begins */
  readonly bucket: bigint
}

/** An addition to a counter, in the budget's unit. */
export type CounterChange = CounterKey & { readonly used: bigint; readonly settled: bigint }

export function counterName({ policyId, budget, subject, bucket }: CounterKey): string {
  return `${policyId} ${budget} ${subject} ${bucket}`
}

/**
 * Adds to counters. With `create` missing counters are made; without it they are left out, because
 * they were deleted with their policy. Rows are locked in one order, so transactions cannot deadlock.
 */
export async function addToCounters(
  trx: Transaction,
  changes: readonly CounterChange[],
  { create }: { readonly create: boolean },
): Promise<void> {
  const nonZero = changes.filter(({ used, settled }) => create || used !== 0n || settled !== 0n)
  if (nonZero.length === 0) return
  if (create) {
    await additions(nonZero).execute(trx)
    return
  }
  const additionTable = tableOf(nonZero)
  const isSameCounter = sql`(c.policy_id, c.budget, c.subject, c.bucket)
    = (d.policy_id, d.budget, d.subject, d.bucket)`
  await sql`select from budget_counters c join ${additionTable} on ${isSameCounter}
    order by c.policy_id, c.budget collate "C", c.subject collate "C", c.bucket
    for no key update of c`.execute(trx)
  await sql`update budget_counters c set used = c.used + d.used, settled = c.settled + d.settled
    from ${additionTable} where ${isSameCounter}`.execute(trx)
}

/** Adds to counters and makes those that are missing, as a statement or a part of one. */
export function additions(changes: readonly CounterChange[]) {
  return sql`insert into budget_counters as c (policy_id, budget, subject, bucket, used, settled)
      select * from ${tableOf(changes)}
      on conflict (policy_id, budget, subject, bucket) do update
        set used = c.used + excluded.used, settled = c.settled + excluded.settled`
}

/** The changes as a table, in the order in which rows are locked. */
function tableOf(changes: readonly CounterChange[]) {
  const sorted = [...changes].sort(inOrder)
  return sql`unnest(
      ${sorted.map(({ policyId }) => policyId)}::uuid[], ${sorted.map(({ budget }) => budget)}::text[],
      ${sorted.map(({ subject }) => subject)}::text[], ${sorted.map(({ bucket }) => bucket)}::bigint[],
      ${sorted.map(({ used }) => used)}::numeric[], ${sorted.map(({ settled }) => settled)}::numeric[]
    ) as d (policy_id, budget, subject, bucket, used, settled)`
}

/** The order in which PostgreSQL sorts uuids and, with collation C, ASCII text. */
function inOrder(a: CounterKey, b: CounterKey): number {
  for (const column of ['policyId', 'budget', 'subject', 'bucket'] as const) {
    if (a[column] < b[column]) return -1
    if (a[column] > b[column]) return 1
  }
  return 0
}

/** A budget's sum from its oldest bucket that counts. */
export type CounterQuery = Omit<CounterKey, 'bucket'> & { readonly oldest: bigint }

/**
 * Deletes up to `limit` counters that no window reaches any more: those whose bucket begins before `before`. Returns
 * how many.
 */
export function pruneCounters(db: Database, before: number, limit: number): Promise<number> {
  return deleteCounters(
    db,
    sql`select policy_id, budget, subject, bucket from budget_counters
      where bucket > 0 and bucket < ${before} order by bucket limit ${limit} for update skip locked`,
  )
}

/**
 * Deletes up to `limit` counters whose policy is gone: it ended with its app, or a sponsorship was under way when it
 * was deleted. Returns how many.
 */
export async function pruneOrphanedCounters(db: Database, limit: number): Promise<number> {
  // Steps from one policy to the next in the index: the counters are many, their policies few.
  const { rows } = await sql<{ id: string }>`with recursive counted as (
      (select policy_id as id from budget_counters order by policy_id limit 1)
      union all
      select (select c.policy_id from budget_counters c where c.policy_id > counted.id
        order by c.policy_id limit 1)
      from counted where counted.id is not null
    )
    select id from counted where id is not null
      and not exists (select from policies p where p.id = counted.id)
      and not exists (select from funds f where f.id = counted.id)`.execute(db)
  if (rows.length === 0) return 0
  // The order makes the server read each policy's counters by the index, also where it has no statistics.
  return deleteCounters(
    db,
    sql`select c.* from unnest(${rows.map(({ id }) => id)}::uuid[]) as orphan (id) cross join lateral (
        select policy_id, budget, subject, bucket from budget_counters where policy_id = orphan.id
        order by budget, subject, bucket limit ${limit} for update skip locked
      ) c limit ${limit}`,
  )
}

/** Deletes the counters that `keys` selects. Returns how many. */
async function deleteCounters(db: Database, keys: RawBuilder<unknown>): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from budget_counters c using (${keys}) d
    where (c.policy_id, c.budget, c.subject, c.bucket)
      = (d.policy_id, d.budget, d.subject, d.bucket)`.execute(db)
  return Number(numAffectedRows)
}

/** What one subject used of a budget, in its unit: reserved or settled, and of that settled. */
export type CounterUse = {
  readonly subject: string
  readonly used: bigint
  readonly settled: bigint
}

/** Counters that are summed at most; a budget of more subjects shows those of its first. */
const MOST_COUNTERS = 50_000

/** The subjects that used most of a budget since its oldest bucket that counts. */
export async function readCounterUses(
  db: Database,
  { policyId, budget, oldest }: Omit<CounterQuery, 'subject'>,
  limit: number,
): Promise<CounterUse[]> {
  const { rows } = await sql<CounterUse>`
    select subject, sum(used)::numeric(78, 0) as used, sum(settled)::numeric(78, 0) as settled
    from (
      select * from budget_counters where policy_id = ${policyId} and budget = ${budget}
        and bucket >= ${oldest} limit ${MOST_COUNTERS}
    ) counted group by subject order by used desc, subject limit ${limit}`.execute(db)
  return rows
}

/** What the subjects that used most of a budget used in the fullest of its windows from `oldest` on. */
export async function readFullestCounters(
  db: Database,
  { policyId, budget, oldest }: Omit<CounterQuery, 'subject'>,
  limit: number,
): Promise<readonly Pick<CounterUse, 'subject' | 'used'>[]> {
  const { rows } = await sql<Pick<CounterUse, 'subject' | 'used'>>`
    select subject, max(used) as used
    from (
      select * from budget_counters where policy_id = ${policyId} and budget = ${budget}
        and bucket >= ${oldest} limit ${MOST_COUNTERS}
    ) counted group by subject order by used desc, subject limit ${limit}`.execute(db)
  return rows
}

/**
 * The sums of budgets, in the order of the queries, as a value of a statement: texts, because the driver reads an
 * array of numerics as floating point.
 */
export function usedOfEach(queries: readonly CounterQuery[]) {
  return sql`array(
      select (select coalesce(sum(c.used), 0) from budget_counters c
        where c.policy_id = q.policy_id and c.budget = q.budget and c.subject = q.subject
          and c.bucket >= q.oldest)::text
      from unnest(
        ${queries.map(({ policyId }) => policyId)}::uuid[],
        ${queries.map(({ budget }) => budget)}::text[],
        ${queries.map(({ subject }) => subject)}::text[],
        ${queries.map(({ oldest }) => oldest)}::bigint[]
      ) with ordinality as q (policy_id, budget, subject, oldest, place)
      order by q.place)`
}

/** The sum of each budget since its oldest bucket that counts, in the order of the queries and in its unit. */
export async function readCountersUsed(
  db: Database,
  queries: readonly CounterQuery[],
): Promise<bigint[]> {
  if (queries.length === 0) return []
  const { rows } = await sql<{ used: string[] }>`select ${usedOfEach(queries)} as used`.execute(db)
  return (rows[0]?.used ?? []).map(BigInt)
}

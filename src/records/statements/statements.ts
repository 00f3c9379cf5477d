import { type RawBuilder, sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../../db/database.js'
import { type Page, type PageQuery, toPage } from '../../db/page.js'
import { resource } from '../../tenants/resource.js'
import { id, type Row, time } from '../../tenants/schemas.js'
import { contentOf, type StatementLine, type StatementRange } from './statement.js'

/** A statement as lists show it. */
export const statement = z.object({ id, appId: id, from: time, until: time, createdAt: time })

/** What apps spent in ranges of time, as it was signed. They are never changed. */
export const statements = resource({
  name: 'statement',
  table: 'statements',
  shown: statement,
  columns: { from: 'from_time', until: 'until_time' },
  limit: { of: 'app', most: 500, noun: 'statements' },
})

/** Lines of one statement; more policies and webhooks were not in use together. */
const MOST_LINES = 1_000

/** What a range lacks for a statement. */
export type NoStatement = 'notFinal' | 'tooLong'

/** Operations that an app paid for, whose blocks are in the range, with reservation `r` and inclusion `i`. */
function operationsIn({ appId, from, until }: StatementRange): RawBuilder<unknown> {
  return sql`reservations r join inclusions i
    on (i.chain_id, i.user_op_hash) = (r.chain_id, r.user_op_hash)
      and i.block_time >= ${from} and i.block_time < ${until}
    where r.app_id = ${appId} and r.actual_cost > 0`
}

/** The chains on which an app had operations sponsored that may be in a block of the range. */
export async function sponsoredChains(
  db: Database,
  { appId, from, until }: StatementRange,
): Promise<readonly number[]> {
  // What was settled, or had expired, before the range is in no block of it.
  const { rows } = await sql<{ chain: bigint }>`select distinct chain_id as chain from reservations
    where app_id = ${appId} and created_at < ${until}
      and (state in ('open', 'included') or updated_at >= ${from}) order by chain_id`.execute(db)
  return rows.map(({ chain }) => Number(chain))
}

/**
 * The text of an app's statement, from what is settled: `notFinal` while a reorganisation can still change it. USD
 * are rounded to the nearest millionth for each operation.
 */
export async function makeContent(
  db: Database,
  range: StatementRange,
): Promise<{ readonly content: string } | NoStatement> {
  const { rows: open } = await sql`select from ${operationsIn(range)}
    and r.state <> 'settled' limit 1`.execute(db)
  if (open.length > 0) return 'notFinal'
  const { rows } = await sql<StatementLine>`
    select r.chain_id::float8 as "chainId", d.policy_id as "policyId", p.token, w.ids as "webhookIds",
      coalesce(sum(p.charged), 0)::numeric(78, 0) as collected,
      count(*) as operations, count(*) filter (where not i.success) as failed,
      sum(r.actual_cost)::numeric(78, 0) as cost, sum(r.rebate)::numeric(78, 0) as rebate,
      coalesce(sum(div(r.actual_cost * d.native_price + 500000000000000000, 1000000000000000000)), 0)
        ::numeric(78, 0) as "microUsd",
      count(*) filter (where d.native_price is null) as unpriced
    from (select r.*, i.success from ${operationsIn(range)}) r
      cross join lateral (select r.success) i
      left join lateral (
        select e.id, e.policy_id, e.native_price from decisions e
        where e.reservation_id = r.id and e.user_op_hash = r.user_op_hash and e.sponsored
        order by e.created_at desc, e.id limit 1
      ) d on true
      left join token_payments p on (p.chain_id, p.user_op_hash, p.app_id)
        = (r.chain_id, r.user_op_hash, r.app_id)
      cross join lateral (
        select coalesce(array_agg(distinct c.webhook_id::text order by c.webhook_id::text), '{}') as ids
        from webhook_calls c where c.decision_id = d.id and c.outcome = 'approved'
      ) w
    group by 1, 2, 3, 4 order by 1, 2 nulls first, 3 nulls first, 4 limit ${MOST_LINES + 1}`.execute(
    db,
  )
  if (rows.length > MOST_LINES) return 'tooLong'
  return { content: contentOf(range, rows) }
}

/** The statements of an account, or of all, without their content, the newest first. */
export async function listStatements(
  db: Database,
  accountId: string | undefined,
  { limit, before }: PageQuery,
): Promise<Page<Row<typeof statement>>> {
  const own = accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`
  const older =
    before === undefined
      ? sql`true`
      : sql`(s.created_at, s.id) < (select created_at, id from statements where id = ${before})`
  const { rows } = await sql<Row<typeof statement>>`
    select s.id, s.app_id as "appId", s.from_time as from, s.until_time as until,
      s.created_at as "createdAt"
    from statements s join apps a on a.id = s.app_id
    where ${own} and ${older} order by s.created_at desc, s.id desc limit ${limit + 1}`.execute(db)
  return toPage(rows, limit, ({ id }) => id)
}

/** One statement; with `accountId` only when it is that account's. */
export async function findStatement(db: Database, id: string, accountId: string | undefined) {
  return db
    .selectFrom('statements as s')
    .innerJoin('apps as a', 'a.id', 's.app_id')
    .selectAll('s')
    .where('s.id', '=', id)
    .$if(accountId !== undefined, (query) => query.where('a.account_id', '=', accountId ?? ''))
    .executeTakeFirst()
}

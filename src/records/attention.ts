import { sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../db/database.js'
import { id, type Row, time } from '../tenants/schemas.js'

/** A part of an app that needs a person, with the names by which people know it. */
export const need = z.object({
  kind: z.enum(['tank', 'credit', 'webhook', 'subscription']),
  id,
  appId: id,
  appName: z.string(),
  accountId: id,
  accountName: z.string(),
  chainId: z.int().nullable(),
  /** Of a receiver; null of a tank. */
  host: z.string().nullable(),
  since: time,
  /** Why a subscription gets no more events; null = it is tried on. */
  reason: z.string().nullable(),
})

const MOST = 100

/** What needs a person in the account (undefined = in all accounts), the longest first. */
export async function listNeeds(
  db: Database,
  accountId: string | undefined,
): Promise<readonly Row<typeof need>[]> {
  const own = accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`
  const host = (url: string) => sql`substring(${sql.ref(url)} from '^[a-z]+://([^/?#]+)')`
  const { rows } = await sql<Row<typeof need>>`
    select n.kind, n.id, a.id as "appId", a.name as "appName", a.account_id as "accountId",
      c.name as "accountName", n.chain_id::float8 as "chainId", n.host, n.since, n.reason
    from (
      select 'tank' as kind, t.id::text, t.app_id, t.chain_id, null as host, l.since, null as reason
      from alerts l join tanks t on t.id = l.holder
      union all
      select 'credit', f.id::text, f.app_id, f.chain_id, null, l.since, null
      from alerts l join funds f on f.id = l.holder
      union all
      -- Whose newest call within a day met an outage, or was not made because of outages.
      select 'webhook', w.id::text, w.app_id, null, ${host('w.url')}, last.started_at, null
      from webhooks w cross join lateral (
        select k.outcome, k.http_status, k.started_at from webhook_calls k
        where k.webhook_id = w.id order by k.id desc limit 1
      ) last
      where w.active and last.started_at > now() - interval '1 day' and (last.http_status >= 500
        or last.outcome in ('timeout', 'dns_error', 'connect_error', 'tls_error', 'circuit_open'))
      union all
      select 'subscription', s.id::text, s.app_id, null, ${host('s.url')},
        coalesce(s.failing_since, s.updated_at), s.disabled_reason
      from event_subscriptions s
      where s.disabled_reason is not null or (s.active and s.failing_since is not null)
    ) n join apps a on a.id = n.app_id join accounts c on c.id = a.account_id
    where a.revoked_at is null and ${own} order by n.since, n.id limit ${MOST}`.execute(db)
  return rows
}

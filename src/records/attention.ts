import { sql } from 'kysely'
import type { Database } from '../db/database.js'

/** A part of an app that needs a person, with the names by which people know it. */
type Need = {
  readonly kind: 'tank' | 'credit' | 'webhook' | 'subscription'
  readonly id: string
  readonly appId: string
  readonly appName: string
  readonly accountId: string
  readonly accountName: string
  readonly chainId: bigint | null
  /** Host of a receiver; null of a tank. */
  readonly host: string | null
  readonly since: Date
  /** Why a subscription was ended; null = it is tried on. */
  readonly reason: string | null
}

const MOST = 100

/** What needs a person in the account (undefined = in all accounts), the longest first. */
export async function listNeeds(
  db: Database,
  accountId: string | undefined,
): Promise<readonly Need[]> {
  const own = accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`
  const host = (url: string) => sql`substring(${sql.ref(url)} from '^[a-z]+://([^/?#]+)')`
  const { rows } = await sql<Need>`
    select n.kind, n.id, a.id as "appId", a.name as "appName", a.account_id as "accountId",
      c.name as "accountName", n.chain_id as "chainId", n.host, n.since, n.reason
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

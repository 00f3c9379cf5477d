import { type Insertable, type Selectable, sql } from 'kysely'
import type { Database, Transaction } from '../../db/database.js'
import { type Page, type PageQuery, toPage } from '../../db/page.js'
import type { Schema } from '../../db/schema.generated.js'

type StoredWebhookCall = Selectable<Schema['webhook_calls']>
export type NewWebhookCall = Omit<
  Insertable<Schema['webhook_calls']>,
  'id' | 'decision_id' | 'app_id'
>

/** The calls of decisions, in the transaction that stores these. */
export async function insertWebhookCalls(
  trx: Transaction,
  decided: readonly {
    readonly decision: { readonly id: string; readonly app_id: string }
    readonly calls: readonly NewWebhookCall[]
  }[],
): Promise<void> {
  const rows = decided.flatMap(({ decision: { id, app_id }, calls }) =>
    calls.map((call) => ({ ...call, decision_id: id, app_id })),
  )
  if (rows.length === 0) return
  // Lists as parameters, so that the statement is the same for any number.
  await sql`insert into webhook_calls (decision_id, app_id, webhook_id, outcome, http_status, reason,
      attempts, duration_ms, started_at)
    select * from unnest(
      ${rows.map((row) => row.decision_id)}::uuid[], ${rows.map((row) => row.app_id)}::uuid[],
      ${rows.map((row) => row.webhook_id)}::uuid[], ${rows.map((row) => row.outcome)}::text[],
      ${rows.map((row) => row.http_status)}::integer[], ${rows.map((row) => row.reason)}::text[],
      ${rows.map((row) => row.attempts)}::integer[],
      ${rows.map((row) => row.duration_ms)}::double precision[],
      ${rows.map((row) => row.started_at)}::timestamptz[])`.execute(trx)
}

export function listWebhookCalls(db: Database, decisionId: string): Promise<StoredWebhookCall[]> {
  return db
    .selectFrom('webhook_calls')
    .selectAll()
    .where('decision_id', '=', decisionId)
    .orderBy('id')
    .execute()
}

/** The calls of one webhook of the app, newest first, also when the webhook was deleted. */
export async function listCallsOfWebhook(
  db: Database,
  appId: string,
  webhookId: string,
  { limit, before }: PageQuery,
): Promise<Page<StoredWebhookCall>> {
  const rows = await db
    .selectFrom('webhook_calls')
    .selectAll()
    .where('app_id', '=', appId)
    .where('webhook_id', '=', webhookId)
    .$if(before !== undefined, (query) => query.where('id', '<', BigInt(before ?? 0)))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()
  return toPage(rows, limit, ({ id }) => String(id))
}

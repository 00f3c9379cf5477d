import type { Insertable, Selectable } from 'kysely'
import type { Database } from './database.js'
import { type Page, type PageQuery, toPage } from './page.js'
import type { Schema } from './schema.js'

export type StoredWebhookCall = Selectable<Schema['webhook_calls']>
export type NewWebhookCall = Omit<
  Insertable<Schema['webhook_calls']>,
  'id' | 'decision_id' | 'app_id'
>

/** The calls of decisions, in the transaction that stores these. */
export const insertWebhookCalls = async (
  trx: Database,
  decided: readonly {
    readonly decision: { readonly id: string; readonly app_id: string }
    readonly calls: readonly NewWebhookCall[]
  }[],
): Promise<void> => {
  const rows = decided.flatMap(({ decision: { id, app_id }, calls }) =>
    calls.map((call) => ({ ...call, decision_id: id, app_id })),
  )
  if (rows.length > 0) await trx.insertInto('webhook_calls').values(rows).execute()
}

export const listWebhookCalls = (db: Database, decisionId: string): Promise<StoredWebhookCall[]> =>
  db
    .selectFrom('webhook_calls')
    .selectAll()
    .where('decision_id', '=', decisionId)
    .orderBy('id')
    .execute()

/** The calls of one webhook of the app, newest first, also when the webhook was deleted. */
export const listCallsOfWebhook = async (
  db: Database,
  appId: string,
  webhookId: string,
  { limit, before }: PageQuery,
): Promise<Page<StoredWebhookCall>> => {
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

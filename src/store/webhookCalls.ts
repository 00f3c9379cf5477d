import type { Insertable, Selectable } from 'kysely'
import type { Database } from './database.js'
import { type Page, type PageQuery, toPage } from './page.js'
import type { Schema } from './schema.js'

export type StoredWebhookCall = Selectable<Schema['webhook_calls']>
export type NewWebhookCall = Omit<
  Insertable<Schema['webhook_calls']>,
  'id' | 'decision_id' | 'app_id'
>

/** The calls of one decision, in the transaction that stores it. */
export const insertWebhookCalls = async (
  trx: Database,
  decision: { readonly id: string; readonly app_id: string },
  calls: readonly NewWebhookCall[],
): Promise<void> => {
  if (calls.length === 0) return
  await trx
    .insertInto('webhook_calls')
    .values(calls.map((call) => ({ ...call, decision_id: decision.id, app_id: decision.app_id })))
    .execute()
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

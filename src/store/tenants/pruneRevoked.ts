import { sql } from 'kysely'
import type { Database } from '../database.js'
import { inTransaction } from '../inTransaction.js'

/** Tables with rows of an app that are its own settings and go with it, each before those that it refers to. */
const settings = [
  'dashboard_rules',
  'dashboards',
  'policies',
  'webhooks',
  'event_subscriptions',
  'events',
  'keys',
] as const
/** Tables with rows that outlive an app: money, and the records of what became of it. */
const records = [
  'tanks',
  'funds',
  'grants',
  'operations',
  'reservations',
  'decisions',
  'webhook_calls',
  'token_payments',
] as const

/** Deletes at most `limit` keys that ended before `before`. @returns the number of them */
export async function pruneKeys(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from keys where id in (
    select id from keys where revoked_at < ${before}
    union all select id from keys where expires_at < ${before}
    limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}

/**
 * Deletes at most `limit` apps that were revoked before `before`, with their settings, where no record
 * refers to them. @returns the number of them
 */
export function pruneApps(db: Database, before: Date, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const isRecorded = records.map(
      (table) => sql`exists (select from ${sql.table(table)} where app_id = a.id)`,
    )
    const { rows } = await sql<{ id: string }>`
      select id from apps a where revoked_at < ${before} and not (${sql.join(isRecorded, sql` or `)})
      limit ${limit} for update skip locked`.execute(trx)
    const ids = rows.map(({ id }) => id)
    if (ids.length === 0) return 0
    for (const table of settings)
      await sql`delete from ${sql.table(table)} where app_id = any(${ids}::uuid[])`.execute(trx)
    await sql`delete from apps where id = any(${ids}::uuid[])`.execute(trx)
    return ids.length
  })
}

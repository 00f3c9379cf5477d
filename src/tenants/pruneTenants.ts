import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../db/database.js'
import { inTransaction } from '../db/inTransaction.js'
import { FAILURE_SECONDS } from './people/signIn.js'

/** Tables with rows of an app that are its own settings and go with it, each before those that it refers to. */
const settings = [
  'shares',
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
  'statements',
] as const

/** Deletes at most `limit` rows whose time has come. @returns the number of them */
type Pruner = (db: Database, before: Date, limit: number) => Promise<number>

/** A pruner of the rows that meet one of the conditions, each of which an index serves. */
function prunerOf(
  table: string,
  key: string,
  conditionsOf: (before: Date) => readonly RawBuilder<unknown>[],
): Pruner {
  const [name, id] = [sql.table(table), sql.ref(key)]
  return async (db, before, limit) => {
    const found = conditionsOf(before).map((is) => sql`select ${id} from ${name} where ${is}`)
    const { numAffectedRows = 0n } = await sql`delete from ${name} where ${id} in (
      ${sql.join(found, sql` union all `)} limit ${limit})`.execute(db)
    return Number(numAffectedRows)
  }
}

function endedBefore(before: Date) {
  return [sql`revoked_at < ${before}`, sql`expires_at < ${before}`]
}

/** By name, of what people and programs signed in with: past at once, or ended before the day that is given. */
export const tenantPruners: Readonly<Record<string, Pruner>> = {
  sessions: prunerOf('sessions', 'id', () => [sql`expires_at < now()`]),
  invitations: prunerOf('invitations', 'id', () => [sql`expires_at < now()`]),
  shares: prunerOf('shares', 'id', () => [sql`expires_at < now()`]),
  signInAttempts: prunerOf('sign_in_attempts', 'subject', () => [
    sql`failed_at < now() - make_interval(secs => ${FAILURE_SECONDS})
      and (trusted_until is null or trusted_until < now())`,
  ]),
  keys: prunerOf('keys', 'id', endedBefore),
  authTokens: prunerOf('auth_tokens', 'id', endedBefore),
  apps: pruneApps,
}

/**
 * Deletes at most `limit` apps that were revoked before `before`, with their settings, where no record
 * refers to them. @returns the number of them
 */
function pruneApps(db: Database, before: Date, limit: number): Promise<number> {
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

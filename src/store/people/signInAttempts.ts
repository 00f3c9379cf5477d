import { sql } from 'kysely'
import type { Database } from '../database.js'

/** Seconds after which failures are forgotten. */
const WINDOW = 3_600
/** The longest lock, in seconds. */
const LONGEST_LOCK = 900
/** Days for which a network stays trusted from which a user signed in. */
const TRUST_DAYS = 30

/** An attempt that may go on, the how manieth it is; or the seconds until one may. */
export type Attempt =
  | { readonly isLocked: false; readonly failures: number }
  | { readonly isLocked: true; readonly seconds: number }

/**
 * Counts an attempt before its outcome is known, so that attempts at once cannot outrun the count. From the failure
 * after `free` on, each one locks the subject for a second, doubled with each further one.
 */
export async function countAttempt(db: Database, subject: Buffer, free: number): Promise<Attempt> {
  const failures = await count(db, subject, free)
  if (failures !== undefined) return { isLocked: false, failures }
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from locked_until - now())::float8 as seconds from sign_in_attempts
    where subject = ${subject} and locked_until > now()`.execute(db)
  return { isLocked: true, seconds: rows[0]?.seconds ?? 1 }
}

/** @returns undefined when the subject is locked */
async function count(db: Database, subject: Buffer, free: number): Promise<number | undefined> {
  const { rows } = await sql<{ failures: number }>`
    insert into sign_in_attempts as a (subject, failures, failed_at) values (${subject}, 1, now())
    on conflict (subject) do update set
      failures = case when a.failed_at < now() - make_interval(secs => ${WINDOW}) then 1
        else least(a.failures + 1, 1000) end,
      locked_until = case
        when a.failed_at >= now() - make_interval(secs => ${WINDOW}) and a.failures >= ${free}
        then now() + make_interval(secs => least(power(2, least(a.failures - ${free}, 20)), ${LONGEST_LOCK}))
        end,
      failed_at = now()
    where a.locked_until is null or a.locked_until <= now()
    returning failures`.execute(db)
  return rows[0]?.failures
}

/** Whether a user signed in with this subject within the last month. */
export async function isTrusted(db: Database, subject: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_attempts')
    .select('subject')
    .where('subject', '=', subject)
    .where('trusted_until', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row !== undefined
}

/** Forgets the failures of the subjects and trusts the first one. */
export async function forgetFailures(
  db: Database,
  trusted: Buffer,
  others: readonly Buffer[],
): Promise<void> {
  await db
    .updateTable('sign_in_attempts')
    .set({
      failures: 0,
      locked_until: null,
      trusted_until: sql<Date>`now() + make_interval(days => ${TRUST_DAYS})`,
    })
    .where('subject', '=', trusted)
    .execute()
  if (others.length > 0)
    await db.deleteFrom('sign_in_attempts').where('subject', 'in', others).execute()
}

/** Deletes at most `limit` subjects that are neither locked nor trusted. @returns the number of them */
export async function pruneAttempts(db: Database, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from sign_in_attempts where subject in (
    select subject from sign_in_attempts
    where failed_at < now() - make_interval(secs => ${WINDOW})
      and (trusted_until is null or trusted_until < now())
    limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}

import { type Expression, type SqlBool, sql } from 'kysely'
import type { Database } from '../../db/database.js'
import { isUuid } from '../../db/uuid.js'

/** A signed-in browser of a user. */
export type Session = {
  readonly id: string
  readonly createdAt: Date
  /** The last request, to the minute. */
  readonly seenAt: Date
  readonly expiresAt: Date
  readonly ip: string | null
  readonly agent: string | null
}

/** The user for whom a session stands. */
export type SessionUser = {
  readonly sessionId: string
  readonly userId: string
  readonly email: string
  readonly isOperator: boolean
  readonly expiresAt: Date
}

type NewSession = {
  readonly userId: string
  readonly tokenHash: Buffer
  /** Seconds */
  readonly life: number
  readonly ip: string | null
  readonly agent: string | null
}

/** Seconds without a request after which a session has ended. */
const IDLE_SECONDS = 12 * 3_600

export function insertSession(db: Database, session: NewSession): Promise<Session> {
  const { userId, tokenHash, life, ip, agent } = session
  return db
    .insertInto('sessions')
    .values({
      user_id: userId,
      token_hash: tokenHash,
      expires_at: sql<Date>`now() + make_interval(secs => ${life})`,
      ended_at: null,
      ip,
      agent,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

const columns = [
  'sessions.id',
  'sessions.created_at as createdAt',
  'sessions.seen_at as seenAt',
  'sessions.expires_at as expiresAt',
  'sessions.ip',
  'sessions.agent',
] as const

function isLive(): Expression<SqlBool> {
  return sql<SqlBool>`sessions.ended_at is null and sessions.expires_at > now()
    and sessions.seen_at > now() - make_interval(secs => ${IDLE_SECONDS})`
}

/** The user of a live session, who is not disabled; the use is noted once a minute. */
export async function findSessionUser(
  db: Database,
  tokenHash: Buffer,
): Promise<SessionUser | undefined> {
  const { rows } = await sql<SessionUser>`
    with live as (
      select sessions.id, user_id, expires_at, email, is_operator
      from sessions join users on users.id = user_id
      where token_hash = ${tokenHash} and users.disabled_at is null and ${isLive()}
    ), seen as (
      update sessions set seen_at = now() from live
      where sessions.id = live.id and sessions.seen_at < now() - interval '1 minute'
    )
    select id as "sessionId", user_id as "userId", email, is_operator as "isOperator",
      expires_at as "expiresAt" from live`.execute(db)
  return rows[0]
}

/** The live sessions of a user, the newest first. */
export function listSessions(db: Database, userId: string): Promise<Session[]> {
  return db
    .selectFrom('sessions')
    .select(columns)
    .where('user_id', '=', userId)
    .where(isLive())
    .orderBy('created_at', 'desc')
    .execute()
}

/** Sessions that a user began within a day, also those that ended since. */
export async function countSessionsOfDay(db: Database, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('created_at', '>', sql<Date>`now() - interval '1 day'`)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Ends a session of the user. @returns false when the user has no such live session */
export async function endSession(db: Database, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await db
    .updateTable('sessions')
    .set({ ended_at: new Date() })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where(isLive())
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends all sessions of a user but the one with this id. */
export async function endSessions(
  db: Database,
  userId: string,
  but: string | undefined,
): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ ended_at: new Date() })
    .where('user_id', '=', userId)
    .where('ended_at', 'is', null)
    .$if(but !== undefined, (query) => query.where('id', '!=', but ?? ''))
    .execute()
}

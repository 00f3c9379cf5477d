import { sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../../db/database.js'
import type { AuditChange } from '../audit.js'
import { changeRow, listRows, resource, showRow } from '../resource.js'
import { id, type Row, time } from '../schemas.js'

export const session = z.object({
  id,
  createdAt: time,
  /** The last request, to the minute. */
  seenAt: time,
  expiresAt: time,
  ip: z.string().nullable(),
  agent: z.string().nullable(),
})

/** A signed-in browser of a user. */
export type Session = Row<typeof session>

export const sessions = resource({
  name: 'session',
  table: 'sessions',
  shown: session,
  order: sql`created_at desc`,
})

/** The origin of an attempt to sign in. */
export type Visitor = {
  readonly ip: string
  /** The address, or the network that it belongs to: what one party can have many addresses of. */
  readonly network: string
  readonly requestId: string
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

export async function insertSession(db: Database, session: NewSession): Promise<Session> {
  const { userId, tokenHash, life, ip, agent } = session
  const row = await db
    .insertInto('sessions')
    .values({
      user_id: userId,
      token_hash: tokenHash,
      expires_at: sql<Date>`now() + make_interval(secs => ${life})`,
      ended_at: null,
      ip,
      agent,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return showRow(sessions, row)
}

const live = {
  ended_at: null,
  expires_at: sql`> now()`,
  seen_at: sql`> now() - make_interval(secs => ${IDLE_SECONDS})`,
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
      where token_hash = ${tokenHash} and users.disabled_at is null and sessions.ended_at is null
        and sessions.expires_at ${live.expires_at} and sessions.seen_at ${live.seen_at}
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
  return listRows(db, sessions, { user_id: userId, ...live })
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

/** Ends a session of the user. @returns undefined when the user has no such live session */
export function endSession(
  change: AuditChange,
  userId: string,
  id: string,
): Promise<true | undefined> {
  const { trx } = change
  return changeRow(change, sessions, { id, user_id: userId, ...live }, 'end', async () => {
    await trx.updateTable('sessions').set({ ended_at: new Date() }).where('id', '=', id).execute()
    return { after: true }
  })
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

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import { UnauthorizedError } from '../../base/errors/restErrors.js'
import type { Database, Transaction } from '../../db/database.js'
import { audited } from '../audit.js'
import { generateSessionToken, hashCredential } from '../credential.js'
import type { OfferedLink } from './createSignInLinks.js'
import { normalEmail } from './email.js'
import type { Passwords } from './passwords.js'
import { countSessionsOfDay, insertSession, type Session, type Visitor } from './sessions.js'
import { findPasswordHash, findUserByEmail, lockLiveUser, type User } from './users.js'

/** The seconds after which a session ends however often it is used. */
export const SESSION_SECONDS = 7 * 86_400
/** Sessions that a user may begin within a day; each is a row, and two in the audit log. */
const SESSIONS_PER_DAY = 100
/** Characters of the header User-Agent that are kept. */
const MAX_AGENT = 200

/** A session that began. Its token is stored nowhere. */
export type BegunSession = {
  readonly token: string
  readonly session: Session
  readonly user: User
}

/**
 * Begins a session. @throws UnauthorizedError that says the same for a wrong password, an unknown and a disabled
 * user; RateLimitError
 */
export async function signIn(
  context: AccessContext,
  credentials: { readonly email: string; readonly password: string },
  visitor: Visitor,
): Promise<BegunSession> {
  // What is no e-mail address is nobody's, and takes as long.
  const email = normalEmail(credentials.email) ?? ''
  const hash = await checkPassword(context, email, credentials.password, visitor)
  if (hash === undefined) throw new UnauthorizedError(WRONG)
  return beginSession(context, (trx) => lockLiveUser(trx, { email, password_hash: hash }), visitor)
}

/** Begins a session of the user whom a link named. @throws UnauthorizedError, RateLimitError */
export function signInByLink(
  context: AccessContext,
  { userId }: OfferedLink,
  visitor: Visitor,
): Promise<BegunSession> {
  return beginSession(context, (trx) => lockLiveUser(trx, { id: userId }), visitor)
}

const WRONG = 'The e-mail address or the password is wrong'

/** Begins a session of the user whom `lockUser` finds. @throws UnauthorizedError, RateLimitError */
export function beginSession(
  { database }: AccessContext,
  lockUser: (trx: Transaction) => Promise<User | undefined>,
  { ip, requestId, agent }: Visitor,
): Promise<BegunSession> {
  const token = generateSessionToken()
  return database.transaction().execute(async (trx) => {
    const user = await lockUser(trx)
    if (user === undefined) throw new UnauthorizedError(WRONG)
    if ((await countSessionsOfDay(trx, user.id)) >= SESSIONS_PER_DAY)
      throw new RateLimitError('sessions', 86_400)
    const session = await insertSession(trx, {
      userId: user.id,
      tokenHash: hashCredential(token),
      life: SESSION_SECONDS,
      ip,
      agent: agent?.slice(0, MAX_AGENT) ?? null,
    })
    await audited(trx, { kind: 'user', id: user.id, ip, requestId }, ({ record }) =>
      record({ action: 'session.create', objectId: session.id, accountId: null, appId: null }),
    )
    return { token, session, user }
  })
}

export type AccessContext = {
  readonly database: Database
  readonly passwords: Passwords
  readonly logger: Logger
}

/** Attempts with one e-mail address that fail before each further one has to wait: from one network, and from all. */
const FREE_OF_NETWORK = 5
const FREE_OF_ALL = 20

function subjectOf(...parts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}

/**
 * The hash of the user's password if this is the password; undefined = it is wrong, or there is no such user: both
 * take as long and count alike. A network from which the user signed in before is not kept out by the failures of
 * others.
 * @param email - in lower case
 * @throws RateLimitError when too many attempts failed, on whichever replica, or too many are being checked
 */
export async function checkPassword(
  context: AccessContext,
  email: string,
  password: string,
  visitor: Visitor,
): Promise<string | undefined> {
  const { database, passwords } = context
  const ofNetwork = subjectOf(email, visitor.network)
  const ofAll = subjectOf(email)
  const isKnownPlace = await isTrusted(database, ofNetwork)
  const failures: number[] = []
  // Counted once it has its turn: an attempt that finds the queue full has not failed.
  const find = async () => {
    failures.push(await requireUnlocked(database, ofNetwork, FREE_OF_NETWORK))
    if (!isKnownPlace) failures.push(await requireUnlocked(database, ofAll, FREE_OF_ALL))
    return findPasswordHash(database, email)
  }
  const hash = await passwords.verify(find, password, visitor.network)
  if (hash !== undefined) await forgetFailures(database, ofNetwork, isKnownPlace ? [] : [ofAll])
  else if (isNoted(Math.max(...failures))) noteFailures(context, email, visitor)
  return hash
}

async function requireUnlocked(database: Database, subject: Buffer, free: number): Promise<number> {
  const attempt = await countAttempt(database, subject, free)
  if (attempt.isLocked) throw new RateLimitError('signIn', attempt.seconds)
  return attempt.failures
}

/** 5, 10, 20, 40, …: strangers must not fill the audit log, which is for ever. */
function isNoted(failures: number): boolean {
  return failures % FREE_OF_NETWORK === 0 && Number.isInteger(Math.log2(failures / FREE_OF_NETWORK))
}

/** Writes behind the answer: of a user that is not there nothing is written, and the time must not show it. */
function noteFailures({ database, logger }: AccessContext, email: string, visitor: Visitor): void {
  const { ip, requestId } = visitor
  const write = async (): Promise<void> => {
    const user = await findUserByEmail(database, email)
    if (user === undefined) return
    await audited(database, { kind: 'user', id: null, ip, requestId }, ({ record }) =>
      record({ action: 'session.refused', objectId: user.id, accountId: null, appId: null }),
    )
  }
  write().catch((err) => logger.warn({ err }, 'failed attempts to sign in were not recorded'))
}

/** Seconds after which failures are forgotten. */
export const FAILURE_SECONDS = 3_600
/** The longest lock, in seconds. */
const LONGEST_LOCK = 900
/** Days for which a network stays trusted from which a user signed in. */
const TRUST_DAYS = 30

/** An attempt that may go on, the how manieth it is; or the seconds until one may. */
type Attempt =
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
      failures = case when a.failed_at < now() - make_interval(secs => ${FAILURE_SECONDS}) then 1
        else least(a.failures + 1, 1000) end,
      locked_until = case
        when a.failed_at >= now() - make_interval(secs => ${FAILURE_SECONDS}) and a.failures >= ${free}
        then now() + make_interval(secs => least(power(2, least(a.failures - ${free}, 20)), ${LONGEST_LOCK}))
        end,
      failed_at = now()
    where a.locked_until is null or a.locked_until <= now()
    returning failures`.execute(db)
  return rows[0]?.failures
}

/** Whether a user signed in with this subject within the last month. */
async function isTrusted(db: Database, subject: Buffer): Promise<boolean> {
  const row = await db
    .selectFrom('sign_in_attempts')
    .select('subject')
    .where('subject', '=', subject)
    .where('trusted_until', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return row !== undefined
}

/** Forgets the failures of the subjects and trusts the first one. */
async function forgetFailures(
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

import { sql } from 'kysely'
import { LastAdminError, TakenError } from '../../base/errors/restErrors.js'
import type { Database, Transaction } from '../../db/database.js'
import { isUuid } from '../../db/uuid.js'
import { type AuditChange, audited } from '../audit.js'
import { requireEmail } from './email.js'
import { deleteInvitationsOf } from './invitations.js'
import { type Passwords, requireGoodPassword } from './passwords.js'
import { endSessions } from './sessions.js'

/** A person who signs in. */
export type User = {
  readonly id: string
  /** In lower case. */
  readonly email: string
  readonly name: string
  /** May administer the instance, and enter any account. */
  readonly isOperator: boolean
  /** Chose a password already. */
  readonly hasPassword: boolean
  readonly createdAt: Date
  readonly disabledAt: Date | null
}

const columns = [
  'id',
  'email',
  'name',
  'is_operator as isOperator',
  sql<boolean>`password_hash is not null`.as('hasPassword'),
  'created_at as createdAt',
  'disabled_at as disabledAt',
] as const

type NewUser = Pick<User, 'email' | 'name' | 'isOperator'> & {
  /** null = the user chooses a password by an invitation. */
  readonly passwordHash: string | null
}

/** Stores a user. @returns undefined when the e-mail address is taken */
export function insertUser(db: Database, user: NewUser): Promise<User | undefined> {
  const { email, name, isOperator, passwordHash } = user
  return db
    .insertInto('users')
    .values({ email, name, is_operator: isOperator, password_hash: passwordHash })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(columns)
    .executeTakeFirst()
}

/** All users, also disabled ones, by e-mail address. */
export function listUsers(db: Database): Promise<User[]> {
  return db.selectFrom('users').select(columns).orderBy('email').execute()
}

/** A user, also a disabled one. */
export async function findUser(db: Database, id: string): Promise<User | undefined> {
  if (!isUuid(id)) return undefined
  return db.selectFrom('users').select(columns).where('id', '=', id).executeTakeFirst()
}

/** A user, also a disabled one. @param email - in lower case */
export function findUserByEmail(db: Database, email: string): Promise<User | undefined> {
  return db.selectFrom('users').select(columns).where('email', '=', email).executeTakeFirst()
}

/** The hash of a live user's password; undefined = no such user, disabled, or without a password. */
export async function findPasswordHash(db: Database, email: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('users')
    .select('password_hash')
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  return row?.password_hash ?? undefined
}

/**
 * A live user; with an e-mail address one whose password still is the one of the hash. The row is locked until the
 * transaction ends, so that a change of the password finds the session that begins in it.
 */
export function lockLiveUser(
  trx: Transaction,
  user: { readonly id: string } | { readonly email: string; readonly password_hash: string },
): Promise<User | undefined> {
  return trx
    .selectFrom('users')
    .select(columns)
    .where((where) => where.and({ ...user }))
    .where('disabled_at', 'is', null)
    .forShare()
    .executeTakeFirst()
}

type UserChange = { readonly isOperator?: boolean; readonly disabledAt?: Date | null }

export function updateUser(
  db: Database,
  id: string,
  { isOperator, disabledAt }: UserChange,
): Promise<User> {
  return db
    .updateTable('users')
    .set({
      ...(isOperator !== undefined && { is_operator: isOperator }),
      ...(disabledAt !== undefined && { disabled_at: disabledAt }),
    })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Key of the advisory lock of those who change users; spells "users". */
const LOCK = 0x7573657273n

/** Keeps others from changing users until the transaction ends, so that the last operator stays one. */
async function lockUsers(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
}

/** Operators who can sign in. */
async function countOperators(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('is_operator', '=', true)
    .where('disabled_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function hasUsers(db: Database): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

function entryOf({ id }: User) {
  return { objectId: id, accountId: null, appId: null }
}

/** Makes a user. Throws TakenError, InvalidFieldError. */
export async function createUser({ trx, record }: AuditChange, settings: NewUser): Promise<User> {
  await lockUsers(trx)
  const user = await insertUser(trx, { ...settings, email: requireEmail(settings.email) })
  if (user === undefined) throw new TakenError('There is a user with this e-mail address already')
  await record({ action: 'user.create', ...entryOf(user), after: user })
  return user
}

/**
 * Changes what a user may do in the instance; undefined = there is no such user. Disabling ends all
 * sessions and open invitations. Throws LastAdminError.
 */
export async function changeUser(
  { trx, record }: AuditChange,
  id: string,
  change: UserChange,
): Promise<User | undefined> {
  await lockUsers(trx)
  const before = await findUser(trx, id)
  if (before === undefined) return undefined
  const after = await updateUser(trx, id, change)
  if (isLiveOperator(before) && !isLiveOperator(after) && (await countOperators(trx)) === 0)
    throw new LastAdminError('operator of this instance')
  if (after.disabledAt !== null) {
    await endSessions(trx, id, undefined)
    await deleteInvitationsOf(trx, after, undefined)
  }
  await record({ action: 'user.update', ...entryOf(after), before, after })
  return after
}

function isLiveOperator({ isOperator, disabledAt }: User): boolean {
  return isOperator && disabledAt === null
}

/** Gives a user a password and ends all sessions but the one in which that is done. */
export async function changePassword(
  { trx, record }: AuditChange,
  user: User,
  passwordHash: string,
  keptSession: string | undefined,
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ password_hash: passwordHash })
    .where('id', '=', user.id)
    .execute()
  await endSessions(trx, user.id, keptSession)
  await record({ action: 'user.password', ...entryOf(user) })
}

/**
 * Makes the operator whom the configuration names, where there is no user at all. A later change of the
 * configuration changes no password. Throws WeakPasswordError, InvalidFieldError.
 */
export async function createFirstUser(
  { database, passwords }: { readonly database: Database; readonly passwords: Passwords },
  configured: { readonly email: string; readonly password: string },
): Promise<void> {
  const email = requireEmail(configured.email)
  requireGoodPassword(configured.password, email)
  if (await hasUsers(database)) return
  const passwordHash = await passwords.hash(configured.password, 'configuration')
  const actor = { kind: 'operator', id: null, ip: null, requestId: null } as const
  await audited(database, actor, async (change) => {
    await lockUsers(change.trx)
    if (await hasUsers(change.trx)) return
    await createUser(change, { email, name: email, isOperator: true, passwordHash })
  })
}

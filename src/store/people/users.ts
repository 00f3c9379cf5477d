import { sql } from 'kysely'
import type { Database, Transaction } from '../database.js'
import { isUuid } from '../uuid.js'

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

export type NewUser = Pick<User, 'email' | 'name' | 'isOperator'> & {
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
 * A live user whose password still is the one of the hash. The row is locked until the transaction ends, so that
 * whoever changes the password finds the session that begins in it.
 */
export function lockUserWithHash(
  trx: Transaction,
  email: string,
  hash: string,
): Promise<User | undefined> {
  return trx
    .selectFrom('users')
    .select(columns)
    .where('email', '=', email)
    .where('password_hash', '=', hash)
    .where('disabled_at', 'is', null)
    .forShare()
    .executeTakeFirst()
}

/** A live user. The row is locked until the transaction ends. */
export function lockLiveUser(trx: Transaction, id: string): Promise<User | undefined> {
  return trx
    .selectFrom('users')
    .select(columns)
    .where('id', '=', id)
    .where('disabled_at', 'is', null)
    .forShare()
    .executeTakeFirst()
}

export async function setPasswordHash(db: Database, id: string, hash: string): Promise<void> {
  await db.updateTable('users').set({ password_hash: hash }).where('id', '=', id).execute()
}

export type UserChange = { readonly isOperator?: boolean; readonly disabledAt?: Date | null }

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
export async function lockUsers(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
}

/** Operators who can sign in. */
export async function countOperators(db: Database): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('is_operator', '=', true)
    .where('disabled_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function hasUsers(db: Database): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

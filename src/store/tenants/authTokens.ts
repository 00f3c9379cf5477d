import { sql } from 'kysely'
import type { Role } from '../../base/vocabulary.js'
import type { Database } from '../database.js'
import { isUuid } from '../uuid.js'
import { lockLiveAccount } from './accounts.js'

/** A token of an account, without the token itself. */
export type AuthToken = {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly role: Role
  /** Of the token; null = of an account's first one. */
  readonly last4: string | null
  readonly isFirst: boolean
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

/** The account that a token stands for, and what it may do there. */
export type TokenOwner = {
  readonly accountId: string
  readonly role: Role
  readonly tokenId: string
  /** The account's `authToken`. */
  readonly isFirst: boolean
}

export type NewAuthToken = Pick<AuthToken, 'accountId' | 'name' | 'role' | 'expiresAt'> & {
  readonly hash: Buffer
  readonly last4: string
}

const columns = [
  'id',
  'account_id as accountId',
  'name',
  'role',
  'last4',
  'is_first as isFirst',
  'created_at as createdAt',
  'expires_at as expiresAt',
  'last_used_at as lastUsedAt',
  'revoked_at as revokedAt',
] as const

/**
 * Stores a token. The account's row is locked until the transaction ends, so that `countAuthTokens` sees tokens
 * that are made at the same time.
 * @returns undefined when there is no such live account
 */
export async function insertAuthToken(
  db: Database,
  token: NewAuthToken,
): Promise<AuthToken | undefined> {
  const { accountId, name, role, expiresAt, hash, last4 } = token
  if (!(await lockLiveAccount(db, accountId))) return undefined
  const row = { account_id: accountId, name, role, expires_at: expiresAt, hash, last4 }
  return db
    .insertInto('auth_tokens')
    .values({ ...row, last_used_at: null, revoked_at: null })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** The tokens of an account that were not revoked, the oldest first; absent = of all accounts. */
export function listAuthTokens(db: Database, accountId?: string): Promise<AuthToken[]> {
  return db
    .selectFrom('auth_tokens')
    .select(columns)
    .where('revoked_at', 'is', null)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

export async function countAuthTokens(db: Database, accountId: string): Promise<number> {
  return (await listAuthTokens(db, accountId)).length
}

/** A token that was not revoked; with an account only one of its own. */
export async function findAuthToken(
  db: Database,
  id: string,
  accountId?: string,
): Promise<AuthToken | undefined> {
  if (!isUuid(id)) return undefined
  return db
    .selectFrom('auth_tokens')
    .select(columns)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .executeTakeFirst()
}

/** Ends a token, for processes of an earlier version too. @returns false when it had ended */
export async function revokeAuthToken(db: Database, id: string): Promise<boolean> {
  const row = await db
    .updateTable('auth_tokens')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('hash')
    .executeTakeFirst()
  if (row === undefined) return false
  await db
    .updateTable('accounts')
    .set({ auth_token_hash: null })
    .where('auth_token_hash', '=', row.hash)
    .execute()
  return true
}

/** The live token with this hash, of a live account; its use is noted once a minute. */
export async function findTokenOwner(db: Database, hash: Buffer): Promise<TokenOwner | undefined> {
  const { rows } = await sql<TokenOwner>`
    with used as (
      update auth_tokens set last_used_at = now()
      where hash = ${hash} and (last_used_at is null or last_used_at < now() - interval '1 minute')
    )
    select t.account_id as "accountId", t.role, t.id as "tokenId", t.is_first as "isFirst"
    from auth_tokens t join accounts a on a.id = t.account_id
    where t.hash = ${hash} and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
      and a.revoked_at is null`.execute(db)
  return rows[0]
}

/** Deletes at most `limit` tokens that ended before `before`. @returns the number of them */
export async function pruneAuthTokens(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from auth_tokens where id in (
    select id from auth_tokens where revoked_at < ${before} or expires_at < ${before}
    limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}

import type { Database } from '../database.js'
import { isUuid } from '../uuid.js'

export type Account = {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

/** Stores an account. A trigger makes the hash its first token. */
export function insertAccount(db: Database, name: string, authTokenHash: Buffer): Promise<Account> {
  return db
    .insertInto('accounts')
    .values({ name, auth_token_hash: authTokenHash, revoked_at: null })
    .returning(['id', 'name', 'created_at as createdAt', 'revoked_at as revokedAt'])
    .executeTakeFirstOrThrow()
}

/**
 * Keeps others from adding to a live account, or changing who may, until the transaction ends.
 * @returns whether there is such an account
 */
export async function lockLiveAccount(db: Database, accountId: string): Promise<boolean> {
  if (!isUuid(accountId)) return false
  const account = await db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .where('revoked_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return account !== undefined
}

export function listAccounts(db: Database): Promise<Account[]> {
  return db
    .selectFrom('accounts')
    .select(['id', 'name', 'created_at as createdAt', 'revoked_at as revokedAt'])
    .orderBy('created_at')
    .execute()
}

/** An account, also a revoked one. */
export async function findAccount(db: Database, id: string): Promise<Account | undefined> {
  return isUuid(id)
    ? db
        .selectFrom('accounts')
        .select(['id', 'name', 'created_at as createdAt', 'revoked_at as revokedAt'])
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
}

/** A new first token in place of the old one. @returns false when there is no such live account */
export async function replaceToken(
  db: Database,
  id: string,
  authTokenHash: Buffer,
): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await db
    .updateTable('accounts')
    .set({ auth_token_hash: authTokenHash })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** @returns false when there is no such account, or it is revoked already */
export async function revokeAccount(db: Database, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await db
    .updateTable('accounts')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

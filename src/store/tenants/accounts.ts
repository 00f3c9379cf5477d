import type { Database } from '../database.js'
import { isUuid } from '../uuid.js'

export type Account = {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

export const insertAccount = (
  db: Database,
  name: string,
  authTokenHash: Buffer,
): Promise<Account> =>
  db
    .insertInto('accounts')
    .values({ name, auth_token_hash: authTokenHash, revoked_at: null })
    .returning(['id', 'name', 'created_at as createdAt', 'revoked_at as revokedAt'])
    .executeTakeFirstOrThrow()

export const listAccounts = (db: Database): Promise<Account[]> =>
  db
    .selectFrom('accounts')
    .select(['id', 'name', 'created_at as createdAt', 'revoked_at as revokedAt'])
    .orderBy('created_at')
    .execute()

/** An account, revoked ones too. */
export const findAccount = async (db: Database, id: string): Promise<Account | undefined> =>
  isUuid(id)
    ? db
        .selectFrom('accounts')
        .select(['id', 'name', 'created_at as createdAt', 'revoked_at as revokedAt'])
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined

/** A new token in place of the old one. @returns false when there is no such live account */
export const replaceToken = async (
  db: Database,
  id: string,
  authTokenHash: Buffer,
): Promise<boolean> => {
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
export const revokeAccount = async (db: Database, id: string): Promise<boolean> => {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await db
    .updateTable('accounts')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The live account with this token. */
export const findAccountByToken = (
  db: Database,
  authTokenHash: Buffer,
): Promise<{ accountId: string } | undefined> =>
  db
    .selectFrom('accounts')
    .select('id as accountId')
    .where('auth_token_hash', '=', authTokenHash)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()

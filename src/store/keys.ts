import { findApp } from './apps.js'
import type { Database } from './database.js'
import { isUuid } from './uuid.js'

export type Key = {
  readonly id: string
  readonly appId: string
  readonly name: string
  readonly last4: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

const columns = [
  'id',
  'app_id as appId',
  'name',
  'last4',
  'created_at as createdAt',
  'revoked_at as revokedAt',
] as const

type NewKey = {
  readonly appId: string
  readonly name: string
  readonly hash: Buffer
  readonly last4: string
}

/** @returns undefined when there is no such live app */
export const insertKey = async (
  db: Database,
  { appId, name, hash, last4 }: NewKey,
): Promise<Key | undefined> => {
  if ((await findApp(db, appId)) === undefined) return undefined
  return db
    .insertInto('keys')
    .values({ app_id: appId, name, hash, last4, revoked_at: null })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

export const listKeys = (db: Database): Promise<Key[]> =>
  db.selectFrom('keys').select(columns).orderBy('created_at').execute()

/** @returns false when there is no such key, or it is revoked already */
export const revokeKey = async (db: Database, id: string): Promise<boolean> => {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await db
    .updateTable('keys')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export type KeyOwner = {
  readonly keyId: string
  readonly appId: string
  readonly accountId: string
}

/** Whose key this is, when key, app and account all live. */
export const findKeyOwner = (db: Database, hash: Buffer): Promise<KeyOwner | undefined> =>
  db
    .selectFrom('keys')
    .innerJoin('apps', 'apps.id', 'keys.app_id')
    .innerJoin('accounts', 'accounts.id', 'apps.account_id')
    .select(['keys.id as keyId', 'apps.id as appId', 'accounts.id as accountId'])
    .where('keys.hash', '=', hash)
    .where('keys.revoked_at', 'is', null)
    .where('apps.revoked_at', 'is', null)
    .where('accounts.revoked_at', 'is', null)
    .executeTakeFirst()

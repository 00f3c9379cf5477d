import type { Database } from '../database.js'
import type { AppSponsor, Quotas } from '../schema.js'
import { isUuid } from '../uuid.js'
import { lockLiveAccount } from './accounts.js'

export type App = {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly sponsor: AppSponsor | null
  /** Of all its keys together. */
  readonly quotas: Quotas | null
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

const columns = [
  'id',
  'account_id as accountId',
  'name',
  'sponsor',
  'quotas',
  'created_at as createdAt',
  'revoked_at as revokedAt',
] as const

/**
 * Stores an app. The account's row is locked until the transaction ends, so that `countApps` sees apps
 * that are made at the same time.
 * @returns undefined when there is no such live account
 */
export async function insertApp(
  db: Database,
  accountId: string,
  name: string,
): Promise<App | undefined> {
  if (!(await lockLiveAccount(db, accountId))) return undefined
  return db
    .insertInto('apps')
    .values({ account_id: accountId, name, revoked_at: null })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** @param accountId - lists only this account's apps; absent = all */
export function listApps(db: Database, accountId?: string): Promise<App[]> {
  return db
    .selectFrom('apps')
    .select(columns)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .orderBy('created_at')
    .execute()
}

export type AppChange = {
  readonly name?: string | undefined
  /** null = names nobody any more. */
  readonly sponsor?: AppSponsor | null | undefined
  /** null = as many requests as there are. */
  readonly quotas?: Quotas | null | undefined
}

/** undefined = there is no such live app. */
export function updateApp(
  db: Database,
  id: string,
  { name, sponsor, quotas }: AppChange,
): Promise<App | undefined> {
  return db
    .updateTable('apps')
    .set((eb) => ({
      name: name ?? eb.ref('name'),
      ...(sponsor !== undefined && { sponsor: sponsor && JSON.stringify(sponsor) }),
      ...(quotas !== undefined && { quotas: quotas && JSON.stringify(quotas) }),
    }))
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
}

/** The app with this id when it and its account live. */
export async function findApp(db: Database, id: string): Promise<App | undefined> {
  return isUuid(id)
    ? db
        .selectFrom('apps')
        .innerJoin('accounts', 'accounts.id', 'apps.account_id')
        .select([
          'apps.id',
          'apps.account_id as accountId',
          'apps.name',
          'apps.sponsor',
          'apps.quotas',
          'apps.created_at as createdAt',
          'apps.revoked_at as revokedAt',
        ])
        .where('apps.id', '=', id)
        .where('apps.revoked_at', 'is', null)
        .where('accounts.revoked_at', 'is', null)
        .executeTakeFirst()
    : undefined
}

/** undefined = the app names nobody. */
export async function findSponsor(db: Database, id: string): Promise<AppSponsor | undefined> {
  const row = await db.selectFrom('apps').select('sponsor').where('id', '=', id).executeTakeFirst()
  return row?.sponsor ?? undefined
}

export type AppOwner = Pick<App, 'accountId'>

/** The account of an app, also of a revoked one. */
export function findAppOwner(db: Database, id: string): Promise<AppOwner | undefined> {
  return db
    .selectFrom('apps')
    .select('account_id as accountId')
    .where('id', '=', id)
    .executeTakeFirst()
}

/** @returns false when there is no such app, or it is revoked already */
export async function revokeApp(db: Database, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await db
    .updateTable('apps')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The number of an account's live apps. */
export async function countApps(db: Database, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('apps')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

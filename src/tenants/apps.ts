import { sql } from 'kysely'
import { TenantLimitError } from '../base/errors/limitErrors.js'
import type { Database } from '../db/database.js'
import { isUuid } from '../db/uuid.js'
import { lockLiveAccount, revokeRow } from './accounts.js'
import type { AuditChange } from './audit.js'

/** Who pays, as wallets show it: a name, and the URI of an image (ERC-7677). */
export type AppSponsor = { readonly name: string; readonly icon?: string | undefined }

/** Requests that a key or an app may make in a second, a minute, a day (UTC); absent = any number. */
export type Quotas = {
  readonly perSecond?: number | undefined
  readonly perMinute?: number | undefined
  readonly perDay?: number | undefined
}

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
  sql<AppSponsor | null>`apps.sponsor`.as('sponsor'),
  sql<Quotas | null>`apps.quotas`.as('quotas'),
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

type AppChange = {
  readonly name?: string | undefined
  /** null = names nobody any more. */
  readonly sponsor?: AppSponsor | null | undefined
  /** null = as many requests as there are. */
  readonly quotas?: Quotas | null | undefined
}

/** undefined = there is no such live app. */
function updateApp(
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
          sql<AppSponsor | null>`apps.sponsor`.as('sponsor'),
          sql<Quotas | null>`apps.quotas`.as('quotas'),
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
  return (row?.sponsor as AppSponsor | null | undefined) ?? undefined
}

type AppOwner = Pick<App, 'accountId'>

/** The account of an app, also of a revoked one. */
export function findAppOwner(db: Database, id: string): Promise<AppOwner | undefined> {
  return db
    .selectFrom('apps')
    .select('account_id as accountId')
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The number of an account's live apps. */
async function countApps(db: Database, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('apps')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', accountId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(count)
}

function entryOf(app: App) {
  return { objectId: app.id, accountId: app.accountId, appId: app.id }
}

/** The most live apps of an account: authentication and lists read them all. */
const MAX_APPS = 200

/** Creates an app; undefined = there is no such live account. Throws TenantLimitError. */
export async function createTenantApp(
  { trx, record }: AuditChange,
  accountId: string,
  name: string,
): Promise<App | undefined> {
  const app = await insertApp(trx, accountId, name)
  if (app !== undefined && (await countApps(trx, accountId)) > MAX_APPS)
    throw new TenantLimitError('account', MAX_APPS, 'apps')
  if (app !== undefined) await record({ action: 'app.create', ...entryOf(app), after: app })
  return app
}

/** Changes the members that are there; undefined = there is no such live app. */
export async function changeApp(
  { trx, record }: AuditChange,
  id: string,
  change: AppChange,
): Promise<App | undefined> {
  const before = await findApp(trx, id)
  const after = before && (await updateApp(trx, id, change))
  if (after !== undefined) await record({ action: 'app.update', ...entryOf(after), before, after })
  return after
}

/** Ends an app and its keys. @returns false when there is no such live app */
export async function endApp({ trx, record }: AuditChange, id: string): Promise<boolean> {
  const before = await findApp(trx, id)
  if (before === undefined || !(await revokeRow(trx, 'apps', id))) return false
  await record({ action: 'app.revoke', ...entryOf(before), before })
  return true
}

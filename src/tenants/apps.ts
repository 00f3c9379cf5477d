import { sql } from 'kysely'
import { z } from 'zod'
import type { Database } from '../db/database.js'
import { isUuid } from '../db/uuid.js'
import type { AuditChange } from './audit.js'
import { quotas } from './quotas.js'
import {
  findRow,
  insertRow,
  listRows,
  resource,
  revokeRow,
  showRow,
  updateRow,
} from './resource.js'
import { route } from './route.js'
import { done, id, listOf, name, type Row, time } from './schemas.js'
import { isSponsorIcon, sponsorIconRule } from './sponsorIcon.js'

/** Who pays, as wallets show it: a name, and the URI of an image (ERC-7677). */
const sponsor = z.strictObject({
  name,
  icon: z.string().refine(isSponsorIcon, `must be ${sponsorIconRule}`).optional(),
})

export type AppSponsor = Row<typeof sponsor>

const app = z.object({
  id,
  accountId: id,
  name: z.string(),
  sponsor: z.object({ name: z.string(), icon: z.string().optional() }).nullable(),
  /** Of all its keys together. */
  quotas,
  createdAt: time,
  revokedAt: time.nullable(),
})

export type App = Row<typeof app>

/** Authentication and lists read all apps of an account. */
export const apps = resource({
  name: 'app',
  table: 'apps',
  shown: app,
  limit: { of: 'account', most: 200, noun: 'apps', counted: sql`revoked_at is null` },
})

/** @param accountId - lists only this account's apps; absent = all */
export function listApps(db: Database, accountId?: string): Promise<App[]> {
  return listRows(db, apps, accountId === undefined ? {} : { account_id: accountId })
}

const usedApp = app.extend({
  /** By any of its keys, to the minute. */
  lastUsedAt: time.nullable(),
})

/** Apps with their last use. @param accountId - lists only this account's apps; absent = all */
async function listUsedApps(db: Database, accountId?: string): Promise<Row<typeof usedApp>[]> {
  const listed = await listApps(db, accountId)
  const uses = await db
    .selectFrom('keys')
    .select(['app_id', sql<Date | null>`max(last_used_at)`.as('at')])
    .where(sql<boolean>`app_id = any(${listed.map(({ id }) => id)})`)
    .groupBy('app_id')
    .execute()
  const byApp = new Map(uses.map(({ app_id, at }) => [app_id, at]))
  return listed.map((each) => ({ ...each, lastUsedAt: byApp.get(each.id) ?? null }))
}

/** The app with this id when it and its account live. */
export async function findApp(db: Database, id: string): Promise<App | undefined> {
  if (!isUuid(id)) return undefined
  const row = await liveApps(db).selectAll('apps').where('apps.id', '=', id).executeTakeFirst()
  return row && showRow(apps, row)
}

/** The app with this id, also when it or its account has ended. */
export async function findAnyApp(db: Database, id: string): Promise<App | undefined> {
  const row = await findRow(db, apps, { id })
  return row && showRow(apps, row)
}

/** The apps that live, with their accounts. */
export function liveApps(db: Database) {
  return db
    .selectFrom('apps')
    .innerJoin('accounts', 'accounts.id', 'apps.account_id')
    .where('apps.revoked_at', 'is', null)
    .where('accounts.revoked_at', 'is', null)
}

/** undefined = the app names nobody. */
export async function findSponsor(db: Database, id: string): Promise<AppSponsor | undefined> {
  const row = await db.selectFrom('apps').select('sponsor').where('id', '=', id).executeTakeFirst()
  return (row?.sponsor as AppSponsor | null | undefined) ?? undefined
}

/** Creates an app; undefined = there is no such live account. Throws TenantLimitError. */
export function createTenantApp(
  change: AuditChange,
  accountId: string,
  name: string,
): Promise<App | undefined> {
  return insertRow(change, apps, { account_id: accountId, name })
}

type AppChange = { readonly [Name in 'name' | 'sponsor' | 'quotas']?: App[Name] | undefined }

/** Changes the members that are there: null ends a sponsor or quotas. undefined = there is no such live app. */
export function changeApp(
  change: AuditChange,
  id: string,
  { name, sponsor, quotas }: AppChange,
): Promise<App | undefined> {
  const columns = {
    name,
    sponsor: sponsor && JSON.stringify(sponsor),
    quotas: quotas && JSON.stringify(quotas),
  }
  return updateRow(change, apps, { id, revoked_at: null }, columns)
}

export const appRoutes = [
  route('GET /apps', {
    command: 'list',
    summary: 'The apps of the account, or of all, also revoked ones',
    who: 'either',
    role: 'viewer',
    answer: listOf(usedApp),
    run: ({ context, accountId }) => listUsedApps(context.database, accountId),
  }),
  route('POST /apps', {
    command: 'create',
    summary: 'Create an app',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name }),
    answer: app,
    run: ({ change, accountId, body }) =>
      change((audit) => createTenantApp(audit, accountId, body.name)),
  }),
  route('GET /apps/{appId}', {
    summary: 'One app',
    role: 'viewer',
    answer: app,
    run: ({ context, app }) => findApp(context.database, app.id),
  }),
  route('PATCH /apps/{appId}', {
    command: 'sponsor',
    summary: 'Rename an app, or change the sponsor that wallets show (null: none)',
    role: 'admin',
    body: z.strictObject({ name: name.optional(), sponsor: sponsor.nullable().optional() }),
    answer: app,
    run: ({ change, app, body }) => change((audit) => changeApp(audit, app.id, body)),
  }),
  route('PATCH /apps/{appId}/quotas', {
    command: 'limit',
    summary: 'Limit the requests of all its keys, over all processes; null: no limit',
    who: 'operator',
    body: z.strictObject({ quotas }),
    answer: app,
    run: ({ change, app, body }) => change((audit) => changeApp(audit, app.id, body)),
  }),
  route('DELETE /apps/{appId}', {
    command: 'revoke',
    summary: 'Revoke an app and its keys',
    role: 'admin',
    answer: done,
    run: ({ change, app }) => change((audit) => revokeRow(audit, apps, { id: app.id })),
  }),
]

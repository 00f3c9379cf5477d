import { TenantLimitError } from '../errors/limitErrors.js'
import {
  type App,
  type AppChange,
  countApps,
  findApp,
  insertApp,
  revokeApp,
  updateApp,
} from '../store/tenants/apps.js'
import type { AuditChange } from '../store/tenants/audit.js'

function entryOf(app: App) {
  return { objectId: app.id, accountId: app.accountId, appId: app.id }
}

/** The most live apps of an account: authentication and lists of the dashboard read them all. */
const MAX_APPS = 200

/** Creates an app; undefined = there is no such live account. Throws TenantLimitError. */
export async function createTenantApp(
  { trx, record }: AuditChange,
  accountId: string,
  name: string,
): Promise<App | undefined> {
  const app = await insertApp(trx, accountId, name)
  if (app !== undefined && (await countApps(trx, accountId)) > MAX_APPS)
    throw new TenantLimitError('account', `${MAX_APPS} apps`)
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
  if (before === undefined || !(await revokeApp(trx, id))) return false
  await record({ action: 'app.revoke', ...entryOf(before), before })
  return true
}

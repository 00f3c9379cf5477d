import { contracts } from '../../../admin/contracts.js'
import { NotFoundError } from '../../../errors/restErrors.js'
import { type AppChange, listApps } from '../../../store/tenants/apps.js'
import { audited } from '../../../store/tenants/audit.js'
import { changeApp, createTenantApp, endApp } from '../../../tenancy/manageApps.js'
import { type Route, type RouteRequest, serve } from '../route.js'

type AppRequest = Pick<RouteRequest<'{appId}', unknown>, 'context' | 'caller' | 'app'>

/** Throws NotFoundError when the app ended meanwhile. */
async function change({ context, caller, app: { id } }: AppRequest, changes: AppChange) {
  const changed = await audited(context.database, caller.actor, (audit) =>
    changeApp(audit, id, changes),
  )
  if (changed === undefined) throw new NotFoundError('App')
  return changed
}

export const appRoutes: readonly Route[] = serve(contracts.app)({
  'GET /apps': async ({ context, accountId }) => ({
    items: await listApps(context.database, accountId),
  }),
  async 'POST /apps'({ context, caller, accountId, body }) {
    const made = await audited(context.database, caller.actor, (change) =>
      createTenantApp(change, accountId, body.name),
    )
    if (made === undefined) throw new NotFoundError('Account')
    return made
  },
  'GET /apps/{appId}': async (asked) => asked.app,
  'PATCH /apps/{appId}': (asked) => change(asked, asked.body),
  'PATCH /apps/{appId}/quotas': (asked) => change(asked, asked.body),
  async 'DELETE /apps/{appId}'({ context, caller, app: { id } }) {
    await audited(context.database, caller.actor, (change) => endApp(change, id))
    return { done: true }
  },
})

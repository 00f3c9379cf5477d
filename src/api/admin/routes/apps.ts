import { z } from 'zod'
import { NotFoundError } from '../../../errors/restErrors.js'
import { listApps } from '../../../store/tenants/apps.js'
import { audited } from '../../../store/tenants/audit.js'
import { changeApp, createTenantApp, endApp } from '../../../tenancy/manageApps.js'
import {
  app,
  done,
  listOf,
  name,
  appParams as params,
  quotas,
  sponsor,
} from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

export const appRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/apps',
    summary: 'The apps of the account, also revoked ones',
    who: 'account',
    role: 'viewer',
    answer: listOf(app),
    run: async ({ context, accountId }) => ({ items: await listApps(context.database, accountId) }),
  }),
  route({
    method: 'POST',
    path: '/apps',
    summary: 'Make an app',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name }),
    answer: app,
    async run({ context, caller, accountId, body }) {
      const made = await audited(context.database, caller.actor, (change) =>
        createTenantApp(change, accountId, body.name),
      )
      if (made === undefined) throw new NotFoundError('Account')
      return made
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}',
    summary: 'One app',
    who: 'account',
    role: 'viewer',
    params,
    answer: app,
    run: async (asked) => asked.app,
  }),
  route({
    method: 'PATCH',
    path: '/apps/{appId}',
    summary: 'Rename an app, or change whom wallets show as its sponsor (null: nobody)',
    who: 'account',
    role: 'admin',
    params,
    body: z.strictObject({ name: name.optional(), sponsor: sponsor.nullable().optional() }),
    answer: app,
    run: (asked) =>
      audited(asked.context.database, asked.caller.actor, (change) =>
        changeApp(change, asked.app.id, asked.body),
      ),
  }),
  route({
    method: 'PATCH',
    path: '/apps/{appId}/quotas',
    summary: 'The requests of all its keys together, over all processes; null: any number',
    who: 'operator',
    params,
    body: z.strictObject({ quotas }),
    answer: app,
    run: (asked) =>
      audited(asked.context.database, asked.caller.actor, (change) =>
        changeApp(change, asked.app.id, asked.body),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/apps/{appId}',
    summary: 'End an app and its keys',
    who: 'account',
    role: 'admin',
    params,
    answer: done,
    async run({ context, caller, app: { id } }) {
      await audited(context.database, caller.actor, (change) => endApp(change, id))
      return { done: true }
    },
  }),
]

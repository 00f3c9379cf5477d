import { listAudit } from '../../../store/tenants/audit.js'
import { auditEntry, pageOf, pageQuery } from '../../adminSchemas.js'
import { cursorNumber } from '../cursor.js'
import { type Route, route } from '../route.js'

/** The authors of an account's own changes. */
const ofTenants: readonly string[] = ['account', 'token', 'user']

export const auditRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/audit',
    summary: 'Who changed what, newest first; an account sees what concerns it',
    who: 'either',
    role: 'viewer',
    query: pageQuery,
    answer: pageOf(auditEntry),
    async run({ context, caller, query: { limit, before } }) {
      const page = { limit, before: cursorNumber(before) }
      const { items, next } = await listAudit(context.database, caller.accountId, page)
      const encoded = items.map((entry) => ({
        ...entry,
        actorId: entry.actor_id,
        // The addresses of the operator's people are no business of a tenant.
        ip: caller.accountId === undefined || ofTenants.includes(entry.actor) ? entry.ip : null,
        requestId: entry.request_id,
        objectId: entry.object_id,
        accountId: entry.account_id,
        appId: entry.app_id,
        hash: entry.hash.toString('hex'),
      }))
      return { items: encoded, next }
    },
  }),
]

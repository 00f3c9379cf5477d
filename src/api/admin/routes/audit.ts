import type { z } from 'zod'
import { contracts } from '../../../admin/contracts.js'
import { listAudit, type StoredAudit } from '../../../store/tenants/audit.js'
import { cursorNumber } from '../cursor.js'
import { type AdminCaller, type Route, serve } from '../route.js'

/** The authors of an account's own changes. */
const ofTenants: readonly string[] = ['account', 'token', 'user']

function encode(entry: StoredAudit, { accountId }: AdminCaller) {
  return {
    ...entry,
    actorId: entry.actor_id,
    // The addresses of the operator's people are no business of a tenant.
    ip: accountId === undefined || ofTenants.includes(entry.actor) ? entry.ip : null,
    requestId: entry.request_id,
    objectId: entry.object_id,
    accountId: entry.account_id,
    appId: entry.app_id,
    hash: entry.hash.toString('hex'),
  }
}

type Filters = z.output<(typeof contracts.audit)['GET /audit/export']['query']>

function filterOf({ from, until, ...same }: Filters) {
  return {
    ...same,
    from: from === undefined ? undefined : new Date(from),
    until: until === undefined ? undefined : new Date(until),
  }
}

export const auditRoutes: readonly Route[] = serve(contracts.audit)({
  async 'GET /audit'({ context, caller, query: { limit, before, ...filter } }) {
    const page = { limit, before: cursorNumber(before) }
    const { database } = context
    const { items, next } = await listAudit(database, caller.accountId, page, filterOf(filter))
    return { items: items.map((entry) => encode(entry, caller)), next }
  },
  'GET /audit/export': async ({ context, caller, query }) =>
    (async function* () {
      let before: string | undefined
      do {
        const page = { limit: 1_000, before }
        const filter = filterOf(query)
        const { items, next } = await listAudit(context.database, caller.accountId, page, filter)
        for (const entry of items) yield encode(entry, caller)
        before = next
      } while (before !== undefined)
    })(),
})

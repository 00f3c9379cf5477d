import { z } from 'zod'
import { listAudit, type StoredAudit } from '../../../store/tenants/audit.js'
import { auditEntry, id, pageOf, pageQuery, time } from '../../adminSchemas.js'
import { cursorNumber } from '../cursor.js'
import { type AdminCaller, type Route, route } from '../route.js'

const filters = {
  actor: auditEntry.shape.actor.optional(),
  action: z
    .string()
    .regex(/^[a-z_.]{1,60}$/)
    .optional(),
  objectId: z.string().min(1).max(200).optional(),
  appId: id.optional(),
  from: time.optional(),
  until: time.optional(),
}

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

type Filters = {
  readonly [Name in keyof typeof filters]?: z.output<(typeof filters)[Name]>
}

function filterOf({ from, until, ...same }: Filters) {
  return {
    ...same,
    from: from === undefined ? undefined : new Date(from),
    until: until === undefined ? undefined : new Date(until),
  }
}

export const auditRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/audit',
    summary: 'Who changed what, newest first; an account sees what concerns it',
    who: 'either',
    role: 'viewer',
    query: pageQuery.extend(filters),
    answer: pageOf(auditEntry),
    async run({ context, caller, query: { limit, before, ...filter } }) {
      const page = { limit, before: cursorNumber(before) }
      const { database } = context
      const { items, next } = await listAudit(database, caller.accountId, page, filterOf(filter))
      return { items: items.map((entry) => encode(entry, caller)), next }
    },
  }),
  route({
    method: 'GET',
    path: '/audit/export',
    summary: 'The same as lines of JSON, all of them, newest first',
    who: 'either',
    role: 'viewer',
    format: 'lines',
    query: z.strictObject(filters),
    answer: auditEntry,
    run: async ({ context, caller, query }) =>
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
  }),
]

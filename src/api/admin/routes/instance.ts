import type { z } from 'zod'
import { schemaVersion, version } from '../../../base/version.js'
import type { Instance } from '../../../config/instance.js'
import { tableSizes } from '../../../records/startRetention.js'
import { listAudit, type StoredAudit } from '../../../tenants/audit.js'
import { contracts } from '../../contracts/contracts.js'
import { camelCased } from '../camelCased.js'
import { type AdminCaller, cursorNumber, type Route, serve } from '../route.js'
import { dateOf } from './overview.js'

function levelsOf({ logLevel }: Instance) {
  return { now: logLevel.now(), configured: logLevel.configured }
}

export const settingRoutes: readonly Route[] = serve(contracts.setting)({
  async 'GET /settings'({ context: { instance } }) {
    const { startedAt, process, file, settings: items } = instance
    const logLevel = levelsOf(instance)
    return { version, schema: schemaVersion, startedAt, process, file, logLevel, items }
  },
  async 'PATCH /settings/log-level'({ context: { instance }, change, body: { level } }) {
    await change(({ record }) =>
      record({
        action: 'log_level.update',
        objectId: 'instance',
        accountId: null,
        appId: null,
        before: { level: instance.logLevel.now() },
        after: { level },
      }),
    )
    instance.logLevel.change(level)
    return levelsOf(instance)
  },
})

export const storageRoutes: readonly Route[] = serve(contracts.storage)({
  async 'GET /storage'({ context }) {
    const sizes = await tableSizes(context.database)
    return sizes.map(({ rows = null, ...size }) => ({ ...size, rows }))
  },
})

/** The authors of an account's own changes. */
const ofTenants: readonly string[] = ['account', 'token', 'user']

function encodeEntry(entry: StoredAudit, { accountId }: AdminCaller) {
  return {
    ...camelCased(entry),
    // The addresses of the operator's people are no business of a tenant.
    ip: accountId === undefined || ofTenants.includes(entry.actor) ? entry.ip : null,
    hash: entry.hash.toString('hex'),
  }
}

type Filters = z.output<(typeof contracts.audit)['GET /audit/export']['query']>

function filterOf({ from, until, ...same }: Filters) {
  return { ...same, from: dateOf(from), until: dateOf(until) }
}

export const auditRoutes: readonly Route[] = serve(contracts.audit)({
  async 'GET /audit'({ context, caller, query: { limit, before, ...filter } }) {
    const page = { limit, before: cursorNumber(before) }
    const { database } = context
    const { items, next } = await listAudit(database, caller.accountId, page, filterOf(filter))
    return { items: items.map((entry) => encodeEntry(entry, caller)), next }
  },
  'GET /audit/export': async ({ context, caller, query }) =>
    (async function* () {
      let before: string | undefined
      do {
        const page = { limit: 1_000, before }
        const filter = filterOf(query)
        const { items, next } = await listAudit(context.database, caller.accountId, page, filter)
        for (const entry of items) yield encodeEntry(entry, caller)
        before = next
      } while (before !== undefined)
    })(),
})

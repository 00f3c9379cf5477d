import { z } from 'zod'
import { ConfigError } from '../../../base/errors/configError.js'
import { ConflictError } from '../../../base/errors/restErrors.js'
import { schemaVersion, version } from '../../../base/version.js'
import { logLevels } from '../../../base/vocabulary.js'
import { type Instance, reloaded } from '../../../config/instance.js'
import { shownSetting } from '../../../config/shownSettings.js'
import { camelCased } from '../../../db/camelCased.js'
import { tableSizes } from '../../../records/startRetention.js'
import { auditFilter, listAudit, type StoredAudit } from '../../../tenants/audit.js'
import type { AdminCaller } from '../../../tenants/route.js'
import { auditEntry, listOf, pageOf, pageByNumber, time } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'

const level = z.enum(logLevels)

const table = z.object({
  name: z.string(),
  /** An estimate of the server; null where it has no statistics yet. */
  rows: z.string().nullable(),
  bytes: z.string(),
  indexBytes: z.string(),
})

function levelsOf({ logLevel }: Instance) {
  return { now: logLevel.now(), configured: logLevel.configured }
}

/** How the process that answers was configured. */
export const settingRoutes = [
  route('GET /settings', {
    summary: 'Every setting of the process that answers, with its source and no secret',
    who: 'operator',
    answer: z.object({
      version: z.string(),
      schema: z.string(),
      startedAt: time,
      /** Its number among those that share a listener; null = it is alone on it. */
      process: z.int().nullable(),
      file: z.string().nullable(),
      logLevel: z.object({ now: level, configured: level }),
      items: z.array(shownSetting),
    }),
    async run({ context: { instance } }) {
      const { startedAt, process, file, settings: items } = instance
      const logLevel = levelsOf(instance)
      return { version, schema: schemaVersion, startedAt, process, file, logLevel, items }
    },
  }),
  route('PATCH /settings/log-level', {
    summary: 'Change the log level of this machine until the next start',
    who: 'operator',
    body: z.strictObject({ level }),
    answer: z.object({ now: level, configured: level }),
    async run({ context: { instance }, change, body: { level } }) {
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
  }),
]

export const reloadRoutes = [
  route('POST /settings/reload', {
    summary:
      'Reload the configuration in this process, as SIGHUP does: new, changed and removed chains',
    who: 'operator',
    answer: reloaded,
    async run({ context: { instance }, change }) {
      const { reload } = instance
      if (reload === undefined)
        throw new ConflictError('This process reads its configuration at its start only.')
      const changes = await reload().catch((error: Error) => {
        if (error instanceof ConfigError) throw new ConflictError(error.message)
        throw error
      })
      await change(({ record }) =>
        record({
          action: 'settings.reload',
          objectId: 'instance',
          accountId: null,
          appId: null,
          after: { ...changes, failed: changes.failed.map(({ chainId }) => chainId) },
        }),
      )
      return changes
    },
  }),
]

/** The disk space that records use. */
export const storageRoutes = [
  route('GET /storage', {
    summary: 'The size of each table of the database, the largest first',
    who: 'operator',
    answer: listOf(table),
    run: ({ context }) => tableSizes(context.database),
  }),
]

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

export const auditRoutes = [
  route('GET /audit', {
    command: 'list',
    summary: 'Who changed what, newest first; an account sees its own entries',
    who: 'either',
    role: 'viewer',
    query: pageByNumber.extend(auditFilter.shape),
    answer: pageOf(auditEntry),
    async run({ context, caller, query: { limit, before, ...filter } }) {
      const page = { limit, before }
      const { database } = context
      const { items, next } = await listAudit(database, caller.accountId, page, filter)
      return { items: items.map((entry) => encodeEntry(entry, caller)), next }
    },
  }),
  route('GET /audit/export', {
    summary: 'All of them as NDJSON, newest first',
    who: 'either',
    role: 'viewer',
    format: 'lines',
    query: auditFilter,
    answer: auditEntry,
    run: async ({ context, caller, query }) =>
      (async function* () {
        let before: string | undefined
        do {
          const page = { limit: 1_000, before }
          const { items, next } = await listAudit(context.database, caller.accountId, page, query)
          for (const entry of items) yield encodeEntry(entry, caller)
          before = next
        } while (before !== undefined)
      })(),
  }),
]

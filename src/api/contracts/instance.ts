import { z } from 'zod'
import { logLevels, settingSources } from '../../base/vocabulary.js'
import type { Contracts } from './contract.js'
import { auditEntry, id, listOf, pageOf, pageQuery, time } from './schemas.js'

const level = z.enum(logLevels)

const setting = z.object({
  name: z.string(),
  flag: z.string(),
  variable: z.string(),
  help: z.string(),
  source: z.enum(settingSources),
  isSecret: z.boolean(),
  /** Of a URL of a node or provider only the host. Null = not set, or a secret. */
  value: z.unknown(),
})

/** How the process that answers was configured. */
export const settingContracts = {
  'GET /settings': {
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
      items: z.array(setting),
    }),
  },
  'PATCH /settings/log-level': {
    summary: 'Change the level of the log of this machine until the next start',
    who: 'operator',
    body: z.strictObject({ level }),
    answer: z.object({ now: level, configured: level }),
  },
} as const satisfies Contracts

const table = z.object({
  name: z.string(),
  /** An estimate of the server; null before it has looked. */
  rows: z.string().nullable(),
  bytes: z.string(),
  indexBytes: z.string(),
})

/** The disk space that records use. */
export const storageContracts = {
  'GET /storage': {
    summary: 'The size of each table of the database, the largest first',
    who: 'operator',
    answer: listOf(table),
  },
} as const satisfies Contracts

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

export const auditContracts = {
  'GET /audit': {
    command: 'list',
    summary: 'Who changed what, newest first; an account sees what concerns it',
    who: 'either',
    role: 'viewer',
    query: pageQuery.extend(filters),
    answer: pageOf(auditEntry),
  },
  'GET /audit/export': {
    summary: 'The same as lines of JSON, all of them, newest first',
    who: 'either',
    role: 'viewer',
    format: 'lines',
    query: z.strictObject(filters),
    answer: auditEntry,
  },
} as const satisfies Contracts

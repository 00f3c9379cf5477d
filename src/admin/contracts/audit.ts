import { z } from 'zod'
import type { Contracts } from '../contract.js'
import { auditEntry, id, pageOf, pageQuery, time } from '../schemas.js'

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

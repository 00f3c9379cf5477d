import { z } from 'zod'
import type { Contracts } from '../contract.js'
import { keyLimits } from '../keyLimits.js'
import { appParams, done, id, key, keyWithSecret, listOf, name } from '../schemas.js'

const params = appParams.extend({ keyId: id })

const usage = z.object({ requests: z.int(), refused: z.int() })

const changes = keyLimits.extend({ name }).partial()

export const keyContracts = {
  'GET /apps/{appId}/keys': {
    summary: 'The keys of an app, also revoked ones',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(key),
  },
  'POST /apps/{appId}/keys': {
    summary: 'Make a key, shown this once; without limits it may do all from anywhere',
    who: 'account',
    role: 'developer',
    status: 201,
    params: appParams,
    body: changes.required({ name: true }),
    answer: keyWithSecret,
  },
  'GET /apps/{appId}/keys/{keyId}': {
    summary: 'One key',
    who: 'account',
    role: 'viewer',
    params,
    answer: key,
  },
  'PATCH /apps/{appId}/keys/{keyId}': {
    summary: 'Change name or limits; a limit that is null ends',
    who: 'account',
    role: 'developer',
    params,
    body: changes,
    answer: key,
  },
  'GET /apps/{appId}/keys/{keyId}/usage': {
    summary: 'Its requests of the last 30 days, today first; refused are those above a limit',
    who: 'account',
    role: 'viewer',
    params,
    answer: listOf(usage.extend({ day: z.iso.date() })).extend({ today: usage }),
  },
  'POST /apps/{appId}/keys/{keyId}/rotate': {
    summary: 'A new key with the same limits; the old one ends after the overlap',
    who: 'account',
    role: 'developer',
    status: 201,
    params,
    body: z.strictObject({
      overlapSeconds: z
        .int()
        .min(0)
        .max(30 * 86_400)
        .default(86_400),
    }),
    answer: keyWithSecret,
  },
  'DELETE /apps/{appId}/keys/{keyId}': {
    summary: 'End a key within 2 s',
    who: 'account',
    role: 'developer',
    params,
    answer: done,
  },
} as const satisfies Contracts

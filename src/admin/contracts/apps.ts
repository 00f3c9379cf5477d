import { z } from 'zod'
import type { Contracts } from '../contract.js'
import { app, done, listOf, name, appParams as params, quotas, sponsor } from '../schemas.js'

export const appContracts = {
  'GET /apps': {
    summary: 'The apps of the account, also revoked ones',
    who: 'account',
    role: 'viewer',
    answer: listOf(app),
  },
  'POST /apps': {
    summary: 'Make an app',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name }),
    answer: app,
  },
  'GET /apps/{appId}': { summary: 'One app', who: 'account', role: 'viewer', params, answer: app },
  'PATCH /apps/{appId}': {
    summary: 'Rename an app, or change whom wallets show as its sponsor (null: nobody)',
    who: 'account',
    role: 'admin',
    params,
    body: z.strictObject({ name: name.optional(), sponsor: sponsor.nullable().optional() }),
    answer: app,
  },
  'PATCH /apps/{appId}/quotas': {
    summary: 'The requests of all its keys together, over all processes; null: any number',
    who: 'operator',
    params,
    body: z.strictObject({ quotas }),
    answer: app,
  },
  'DELETE /apps/{appId}': {
    summary: 'End an app and its keys',
    who: 'account',
    role: 'admin',
    params,
    answer: done,
  },
} as const satisfies Contracts

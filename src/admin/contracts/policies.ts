import { z } from 'zod'
import { termsSchema } from '../../policy/policySchema.js'
import type { Contracts } from '../contract.js'
import { done, id, listOf, name, time } from '../schemas.js'

const params = z.object({ policyId: id })

const policy = z.object({
  policyId: id,
  /** null = binds all apps of the account */
  appId: id.nullable(),
  name: z.string(),
  active: z.boolean(),
  position: z.int(),
  /** As they were written. */
  terms: z.record(z.string(), z.unknown()),
  createdAt: time,
  updatedAt: time,
})

const settings = z.strictObject({
  name,
  active: z.boolean(),
  /** Smaller ones are asked first. */
  position: z.int().min(0).max(1_000_000),
  terms: termsSchema,
})

/** Rules and budgets, of the account or of one app. */
export const policyContracts = {
  'GET /policies': {
    summary: 'The policies of the account in the order in which they are asked',
    who: 'account',
    role: 'viewer',
    query: z.strictObject({ appId: id.optional() }),
    answer: listOf(policy),
  },
  'POST /policies': {
    summary: 'Make a policy, of an app or (appId null) of the whole account',
    who: 'account',
    role: 'admin',
    status: 201,
    body: settings.partial().extend({ appId: id.nullable(), name }),
    answer: policy,
  },
  'GET /policies/{policyId}': {
    summary: 'One policy',
    who: 'account',
    role: 'viewer',
    params,
    answer: policy,
  },
  'PATCH /policies/{policyId}': {
    summary: 'Change a policy; terms are replaced whole, counters of kept budgets stay',
    who: 'account',
    role: 'admin',
    params,
    body: settings.partial(),
    answer: policy,
  },
  'DELETE /policies/{policyId}': {
    summary: 'Delete a policy with its counters',
    who: 'account',
    role: 'admin',
    params,
    answer: done,
  },
} as const satisfies Contracts

import { z } from 'zod'
import type { Contracts } from './contract.js'
import {
  address,
  appParams,
  chainId,
  explanation,
  hash,
  id,
  pageOf,
  pageQuery,
  time,
  wei,
} from './schemas.js'

const decision = z.object({
  decisionId: id,
  chainId: z.int(),
  entryPoint: address,
  sender: address,
  nonce: z.string(),
  userOpHash: hash.nullable(),
  sponsored: z.boolean(),
  code: z.string(),
  message: z.string(),
  maxCost: wei,
  /** Unix seconds */
  validAfter: z.string(),
  validUntil: z.string(),
  policyId: id.nullable(),
  /** The verdict of each policy and budget. */
  details: z.record(z.string(), z.unknown()),
  createdAt: time,
})

const webhookCall = z.object({
  webhookId: id,
  outcome: z.string(),
  httpStatus: z.int().nullable(),
  reason: z.string().nullable(),
  attempts: z.int(),
  durationMs: z.number(),
  startedAt: time,
})

const decisionQuery = pageQuery.extend({
  sponsored: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  code: z
    .string()
    .regex(/^[A-Z_]{1,60}$/)
    .optional(),
  chainId: chainId.optional(),
  sender: address.optional(),
  userOpHash: hash.optional(),
  policyId: id.optional(),
  from: time.optional(),
  until: time.optional(),
})

/** Every answer to a request for sponsorship, and why. */
export const decisionContracts = {
  'GET /apps/{appId}/decisions': {
    summary: 'Why each sponsorship was given or refused, newest first',
    who: 'account',
    role: 'viewer',
    params: appParams,
    query: decisionQuery,
    answer: pageOf(decision),
  },
  'GET /apps/{appId}/decisions/{decisionId}': {
    summary: 'One decision with the calls of webhooks that were made for it',
    who: 'account',
    role: 'viewer',
    params: appParams.extend({ decisionId: id }),
    answer: decision.extend({ webhookCalls: z.array(webhookCall) }),
  },
} as const satisfies Contracts

/** What became of the amount that was reserved; `none` where nothing was. */
const fate = z.enum(['none', 'open', 'included', 'expired', 'settled', 'released', 'other'])

const entry = decision.extend({
  appId: id,
  /** `other`: an operation that was not sponsored by it took the nonce. */
  fate,
  /** wei; null while its operation is not included. */
  actualCost: wei.nullable(),
})

/** Decisions of all apps of an account. */
export const decisionRecordContracts = {
  'GET /decisions': {
    command: 'list',
    summary: 'Sponsorships that were given or refused, with their fate and cost, newest first',
    who: 'either',
    role: 'viewer',
    query: decisionQuery.extend({ appId: id.optional() }),
    answer: pageOf(entry),
  },
  'GET /decisions/{decisionId}': {
    command: 'show',
    summary: 'One decision: who said what, what became of it, and what to do',
    who: 'either',
    role: 'viewer',
    params: z.object({ decisionId: id }),
    answer: entry.extend({
      webhookCalls: z.array(webhookCall),
      explanation: explanation.nullable(),
    }),
  },
} as const satisfies Contracts

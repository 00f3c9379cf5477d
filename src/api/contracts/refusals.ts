import { z } from 'zod'
import type { Contracts } from './contract.js'
import { address, chainId, explanation, id, pageOf, pageQuery, time } from './schemas.js'

const refusal = z.object({
  refusalId: id,
  at: time,
  appId: id,
  keyId: id,
  chainId: z.int(),
  method: z.string(),
  entryPoint: address.nullable(),
  sender: address.nullable(),
  nonce: z.string().nullable(),
  /** The JSON-RPC code, the rule that decided and the message, as they were answered. */
  code: z.int(),
  rule: z.string().nullable(),
  message: z.string(),
  requestId: z.string(),
})

const refusalQuery = pageQuery.extend({
  appId: id.optional(),
  chainId: chainId.optional(),
  method: z
    .string()
    .regex(/^\w{1,60}$/)
    .optional(),
  code: z.coerce.number<number>().int().min(-40_000).max(40_000).optional(),
  rule: z
    .string()
    .regex(/^[A-Z0-9_-]{1,40}$/)
    .optional(),
  sender: address.optional(),
  from: time.optional(),
  until: time.optional(),
})

/** Requests about operations that were answered with an error, and what a code means. */
export const refusalContracts = {
  'GET /refusals': {
    command: 'list',
    summary: "Requests of the account's apps about operations that were refused, newest first",
    who: 'either',
    role: 'viewer',
    query: refusalQuery,
    answer: pageOf(refusal),
  },
  'GET /refusals/{refusalId}': {
    command: 'show',
    summary: 'One refused request: what was asked, what was answered, and what to do',
    who: 'either',
    role: 'viewer',
    params: z.object({ refusalId: id }),
    answer: refusal.extend({
      /** `error.data` of the answer. */
      data: z.unknown(),
      /** The parameters of the request; null where they were longer than what is kept. */
      request: z.unknown(),
      explanation: explanation.nullable(),
    }),
  },
  'GET /explain': {
    summary: 'What a code means, who can fix it, and how: AA25, STO-021, BUDGET_EXCEEDED, -32508',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({ code: z.string().regex(/^[A-Z0-9_-]{1,60}$/, 'must be a code') }),
    answer: explanation,
  },
} as const satisfies Contracts

import type { Address } from 'viem'
import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../errors/restErrors.js'
import { explain, explainError } from '../../../explain/explain.js'
import { findRefusal, listRefusals, type StoredRefusal } from '../../../store/records/refusals.js'
import { isUuid } from '../../../store/uuid.js'
import { address, explanation, id, pageOf, pageQuery, time } from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

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

function encode(stored: StoredRefusal) {
  return {
    refusalId: stored.id,
    at: stored.at,
    appId: stored.app_id,
    keyId: stored.key_id,
    chainId: Number(stored.chain_id),
    method: stored.method,
    entryPoint: stored.entry_point,
    sender: stored.sender,
    nonce: stored.nonce === null ? null : String(stored.nonce),
    code: stored.code,
    rule: stored.rule,
    message: stored.message,
    requestId: stored.request_id,
  }
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

const query = pageQuery.extend({
  appId: id.optional(),
  chainId: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  method: z
    .string()
    .regex(/^\w{1,60}$/)
    .optional(),
  code: z.coerce.number().int().min(-40_000).max(40_000).optional(),
  rule: z
    .string()
    .regex(/^[A-Z0-9_-]{1,40}$/)
    .optional(),
  sender: address.optional(),
  from: time.optional(),
  until: time.optional(),
})

/** Requests about operations that were answered with an error, and what a code means. */
export const refusalRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/refusals',
    summary: "Requests of the account's apps about operations that were refused, newest first",
    who: 'either',
    role: 'viewer',
    query,
    answer: pageOf(refusal),
    async run({ context, caller, query: { limit, before, sender, from, until, ...same } }) {
      const filter = defined({
        ...same,
        accountId: caller.accountId,
        sender: sender?.toLowerCase() as Address | undefined,
        from: from === undefined ? undefined : new Date(from),
        until: until === undefined ? undefined : new Date(until),
      })
      if (before !== undefined && !isUuid(before))
        throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
      const { items, next } = await listRefusals(context.database, filter, { limit, before })
      return { items: items.map(encode), next }
    },
  }),
  route({
    method: 'GET',
    path: '/refusals/{refusalId}',
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
    async run({ context, caller, params }) {
      const stored = await findRefusal(context.database, params.refusalId, caller.accountId)
      if (stored === undefined) throw new NotFoundError('Refusal')
      return {
        ...encode(stored),
        data: parsed(stored.data),
        request: parsed(stored.request),
        explanation: explainError(stored) ?? null,
      }
    },
  }),
  route({
    method: 'GET',
    path: '/explain',
    summary: 'What a code means, who can mend it, and how: AA25, STO-021, BUDGET_EXCEEDED, -32508',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({ code: z.string().regex(/^[A-Z0-9_-]{1,60}$/, 'must be a code') }),
    answer: explanation,
    async run({ query: { code } }) {
      const known = explain(code)
      if (known === undefined) throw new NotFoundError('Code')
      return known
    },
  }),
]

import { z } from 'zod'
import { explain, explainError } from '../../../base/errors/explain.js'
import { NotFoundError } from '../../../base/errors/restErrors.js'
import { camelCased } from '../../../db/camelCased.js'
import {
  findRefusal,
  listRefusals,
  refusalFilter,
  type StoredRefusal,
} from '../../../records/refusals.js'
import { address, code, explanation, id, pageOf, pageById, time } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'

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

function encodeRefusal(stored: StoredRefusal) {
  return { ...camelCased(stored), refusalId: stored.id }
}

function parsed(text: string | null): unknown {
  return text === null ? null : JSON.parse(text)
}

/** Requests about operations that were answered with an error, and what a code means. */
export const refusalRoutes = [
  route('GET /refusals', {
    command: 'list',
    summary: 'Rejected requests about operations, newest first',
    who: 'either',
    role: 'viewer',
    query: pageById.extend(refusalFilter.shape),
    answer: pageOf(refusal),
    async run({ context, caller, query: { limit, before, ...same } }) {
      const filter = { ...same, accountId: caller.accountId }
      const { items, next } = await listRefusals(context.database, filter, { limit, before })
      return { items: items.map(encodeRefusal), next }
    },
  }),
  route('GET /refusals/{refusalId}', {
    command: 'show',
    summary: 'One rejected request: request, response and fix',
    who: 'either',
    role: 'viewer',
    answer: refusal.extend({
      /** `error.data` of the answer. */
      data: z.unknown(),
      /** The parameters of the request; null where they were longer than what is kept. */
      request: z.unknown(),
      explanation: explanation.nullable(),
    }),
    async run({ context, caller, params }) {
      const stored = await findRefusal(context.database, params.refusalId, caller.accountId)
      if (stored === undefined) return undefined
      return {
        ...encodeRefusal(stored),
        data: parsed(stored.data),
        request: parsed(stored.request),
        explanation: explainError(stored) ?? null,
      }
    },
  }),
  route('GET /explain', {
    summary: 'What a code means, who can fix it, and how: AA25, STO-021, BUDGET_EXCEEDED, -32508',
    who: 'either',
    role: 'viewer',
    query: z.strictObject({ code }),
    answer: explanation,
    async run({ query: { code } }) {
      const known = explain(code)
      if (known === undefined) throw new NotFoundError('Code')
      return known
    },
  }),
]

import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../errors/restErrors.js'
import {
  findDecision,
  listDecisions,
  type StoredDecision,
} from '../../../store/ledger/decisions.js'
import { listWebhookCalls, type StoredWebhookCall } from '../../../store/ledger/webhookCalls.js'
import { isUuid } from '../../../store/uuid.js'
import { address, appParams, id, pageOf, pageQuery, time, wei } from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

const hash = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be a hash')

export const decision = z.object({
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

export function encodeDecision(stored: StoredDecision) {
  return {
    decisionId: stored.id,
    chainId: Number(stored.chain_id),
    entryPoint: stored.entry_point,
    sender: stored.sender,
    nonce: String(stored.nonce),
    userOpHash: stored.user_op_hash,
    sponsored: stored.sponsored,
    code: stored.code,
    message: stored.message,
    maxCost: stored.max_cost,
    validAfter: String(stored.valid_after),
    validUntil: String(stored.valid_until),
    policyId: stored.policy_id,
    details: stored.details,
    createdAt: stored.created_at,
  }
}

export const webhookCall = z.object({
  webhookId: id,
  outcome: z.string(),
  httpStatus: z.int().nullable(),
  reason: z.string().nullable(),
  attempts: z.int(),
  durationMs: z.number(),
  startedAt: time,
})

export function encodeCall(stored: StoredWebhookCall) {
  return {
    webhookId: stored.webhook_id,
    outcome: stored.outcome,
    httpStatus: stored.http_status,
    reason: stored.reason,
    attempts: stored.attempts,
    durationMs: stored.duration_ms,
    startedAt: stored.started_at,
  }
}

export const decisionQuery = pageQuery.extend({
  sponsored: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  code: z
    .string()
    .regex(/^[A-Z_]{1,60}$/)
    .optional(),
  chainId: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
  sender: address.optional(),
  userOpHash: hash.optional(),
  policyId: id.optional(),
  from: time.optional(),
  until: time.optional(),
})

/** Every answer to a request for sponsorship, and why. */
export const decisionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/apps/{appId}/decisions',
    summary: 'Why each sponsorship was given or refused, newest first',
    who: 'account',
    role: 'viewer',
    params: appParams,
    query: decisionQuery,
    answer: pageOf(decision),
    async run({ context, app, query: { limit, before, sender, userOpHash, ...rest } }) {
      if (before !== undefined && !isUuid(before))
        throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
      const { from, until, ...same } = rest
      const filter = defined({
        ...same,
        appId: app.id,
        sender: sender?.toLowerCase() as Address | undefined,
        userOpHash: userOpHash?.toLowerCase() as Hex | undefined,
        from: from === undefined ? undefined : new Date(from),
        until: until === undefined ? undefined : new Date(until),
      })
      const page = await listDecisions(context.database, filter, { limit, before })
      return { items: page.items.map(encodeDecision), next: page.next }
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/decisions/{decisionId}',
    summary: 'One decision with the calls of webhooks that were made for it',
    who: 'account',
    role: 'viewer',
    params: appParams.extend({ decisionId: id }),
    answer: decision.extend({ webhookCalls: z.array(webhookCall) }),
    async run({ context, app, params: { decisionId } }) {
      const stored = await findDecision(context.database, decisionId)
      if (stored === undefined || stored.app_id !== app.id) throw new NotFoundError('Decision')
      const calls = await listWebhookCalls(context.database, decisionId)
      const webhookCalls = calls.map(encodeCall)
      return { ...encodeDecision(stored), webhookCalls }
    },
  }),
]

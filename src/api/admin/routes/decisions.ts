import { z } from 'zod'
import { explain } from '../../../base/errors/explain.js'
import { camelCased } from '../../../db/camelCased.js'
import {
  type DecisionEntry,
  type DecisionFilter,
  decisionFilter,
  findDecision,
  findDecisionEntry,
  listDecisions,
  type StoredDecision,
} from '../../../paymaster/ledger/decisions.js'
import type { ReservationState } from '../../../paymaster/ledger/reservations.js'
import { listWebhookCalls } from '../../../paymaster/ledger/webhookCalls.js'
import {
  address,
  explanation,
  hash,
  id,
  pageOf,
  pageById,
  time,
  wei,
} from '../../../tenants/schemas.js'
import type { AdminContext } from '../../adminContext.js'
import { route } from '../../adminContext.js'

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

const decisionQuery = pageById.extend(decisionFilter.shape)

/** What became of the amount that was reserved; `none` where nothing was. */
const fate = z.enum(['none', 'open', 'included', 'expired', 'settled', 'released', 'other'])

const entry = decision.extend({
  appId: id,
  /** `other`: an operation that was not sponsored by it took the nonce. */
  fate,
  /** wei; null while its operation is not included. */
  actualCost: wei.nullable(),
})

function encodeDecision(stored: StoredDecision) {
  return {
    ...camelCased(stored),
    decisionId: stored.id,
    details: stored.details as Readonly<Record<string, unknown>>,
  }
}

/** A page of decisions, each as `encode` gives it. */
async function findPage<Item>(
  { database }: AdminContext,
  { limit, before, ...same }: z.output<typeof decisionQuery>,
  owner: Pick<DecisionFilter, 'appId' | 'accountId'>,
  encode: (entry: DecisionEntry) => Item,
) {
  const page = { limit, before }
  const { items, next } = await listDecisions(database, { ...same, ...owner }, page)
  return { items: items.map(encode), next }
}

async function callsOf({ database }: AdminContext, decisionId: string) {
  return (await listWebhookCalls(database, decisionId)).map(camelCased)
}

/** Every answer to a request for sponsorship, and why. */
export const decisionRoutes = [
  route('GET /apps/{appId}/decisions', {
    summary: 'Each sponsorship decision with its reason, newest first',
    role: 'viewer',
    query: decisionQuery,
    answer: pageOf(decision),
    run: ({ context, app, query }) => findPage(context, query, { appId: app.id }, encodeDecision),
  }),
  route('GET /apps/{appId}/decisions/{decisionId}', {
    summary: 'One decision with the calls of webhooks that were made for it',
    role: 'viewer',
    answer: decision.extend({ webhookCalls: z.array(webhookCall) }),
    async run({ context, app, params: { decisionId } }) {
      const stored = await findDecision(context.database, decisionId)
      if (stored === undefined || stored.app_id !== app.id) return undefined
      return { ...encodeDecision(stored), webhookCalls: await callsOf(context, decisionId) }
    },
  }),
]

type Fate = ReservationState | 'other' | 'none'

function fateOf({ reservation_state, included_hash, user_op_hash }: DecisionEntry): Fate {
  const isOther = included_hash !== null && included_hash !== user_op_hash
  return isOther ? 'other' : (reservation_state ?? 'none')
}

function encodeRecord(stored: DecisionEntry) {
  return {
    ...camelCased(stored),
    ...encodeDecision(stored),
    fate: fateOf(stored),
  }
}

/** Decisions of all apps of an account. */
export const decisionRecordRoutes = [
  route('GET /decisions', {
    command: 'list',
    summary: 'Sponsorship decisions with outcome and cost, newest first',
    who: 'either',
    role: 'viewer',
    query: decisionQuery.extend({ appId: id.optional() }),
    answer: pageOf(entry),
    run: ({ context, caller: { accountId }, query: { appId, ...query } }) =>
      findPage(context, query, { appId, accountId }, encodeRecord),
  }),
  route('GET /decisions/{decisionId}', {
    command: 'show',
    summary: "One decision: each policy's verdict, its outcome, and what to do",
    who: 'either',
    role: 'viewer',
    answer: entry.extend({
      webhookCalls: z.array(webhookCall),
      explanation: explanation.nullable(),
    }),
    async run({ context, caller, params: { decisionId } }) {
      const stored = await findDecisionEntry(context.database, decisionId, caller.accountId)
      if (stored === undefined) return undefined
      return {
        ...encodeRecord(stored),
        webhookCalls: await callsOf(context, decisionId),
        explanation: stored.sponsored ? null : (explain(stored.code) ?? null),
      }
    },
  }),
]

import type { Hex } from 'viem'
import type { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { explain } from '../../../base/errors/explain.js'
import { InvalidFieldError } from '../../../base/errors/restErrors.js'
import { isUuid } from '../../../db/uuid.js'
import {
  type DecisionEntry,
  findDecision,
  findDecisionEntry,
  listDecisions,
  type StoredDecision,
} from '../../../paymaster/ledger/decisions.js'
import type { ReservationState } from '../../../paymaster/ledger/reservations.js'
import { listWebhookCalls } from '../../../paymaster/ledger/webhookCalls.js'
import type { AdminContext } from '../../adminContext.js'
import { contracts } from '../../contracts/contracts.js'
import { camelCased } from '../camelCased.js'
import { type Route, serve } from '../route.js'
import { dateOf, lower } from './overview.js'

function encodeDecision(stored: StoredDecision) {
  return {
    ...camelCased(stored),
    decisionId: stored.id,
    details: stored.details as Readonly<Record<string, unknown>>,
  }
}

type Filters = z.output<(typeof contracts.decision)['GET /apps/{appId}/decisions']['query']>

/** A page of decisions, each as `encode` gives it. Throws InvalidFieldError. */
async function pageOf<Item>(
  { database }: AdminContext,
  { limit, before, from, until, ...same }: Filters,
  owner: { readonly appId?: string | undefined; readonly accountId?: string | undefined },
  encode: (entry: DecisionEntry) => Item,
) {
  if (before !== undefined && !isUuid(before))
    throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
  const filter = defined({
    ...same,
    ...owner,
    sender: lower(same.sender),
    userOpHash: lower<Hex>(same.userOpHash),
    from: dateOf(from),
    until: dateOf(until),
  })
  const { items, next } = await listDecisions(database, filter, { limit, before })
  return { items: items.map(encode), next }
}

async function callsOf({ database }: AdminContext, decisionId: string) {
  return (await listWebhookCalls(database, decisionId)).map(camelCased)
}

export const decisionRoutes: readonly Route[] = serve(contracts.decision)({
  'GET /apps/{appId}/decisions': ({ context, app, query }) =>
    pageOf(context, query, { appId: app.id }, encodeDecision),
  async 'GET /apps/{appId}/decisions/{decisionId}'({ context, app, params: { decisionId } }) {
    const stored = await findDecision(context.database, decisionId)
    if (stored === undefined || stored.app_id !== app.id) return undefined
    return { ...encodeDecision(stored), webhookCalls: await callsOf(context, decisionId) }
  },
})

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

export const decisionRecordRoutes: readonly Route[] = serve(contracts.decisionRecord)({
  'GET /decisions': ({ context, caller: { accountId }, query: { appId, ...query } }) =>
    pageOf(context, query, { appId, accountId }, encodeRecord),
  async 'GET /decisions/{decisionId}'({ context, caller, params: { decisionId } }) {
    const stored = await findDecisionEntry(context.database, decisionId, caller.accountId)
    if (stored === undefined) return undefined
    return {
      ...encodeRecord(stored),
      webhookCalls: await callsOf(context, decisionId),
      explanation: stored.sponsored ? null : (explain(stored.code) ?? null),
    }
  },
})

import type { Hex } from 'viem'
import { z } from 'zod'
import { defined } from '../../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../../errors/restErrors.js'
import { explain } from '../../../../explain/explain.js'
import {
  type DecisionEntry,
  findDecisionEntry,
  listDecisions,
} from '../../../../store/ledger/decisions.js'
import { listWebhookCalls } from '../../../../store/ledger/webhookCalls.js'
import { isUuid } from '../../../../store/uuid.js'
import { explanation, id, pageOf, wei } from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'
import { decision, decisionQuery, encodeCall, encodeDecision, webhookCall } from '../decisions.js'
import { dateOf, lower } from './period.js'

/** What became of the amount that was reserved; `none` where nothing was. */
const fate = z.enum(['none', 'open', 'included', 'expired', 'settled', 'released', 'other'])

const entry = decision.extend({
  appId: id,
  /** `other`: an operation that was not sponsored by it took the nonce. */
  fate,
  /** wei; null while its operation is not included. */
  actualCost: wei.nullable(),
})

function fateOf({ reservation_state, included_hash, user_op_hash }: DecisionEntry) {
  const isOther = included_hash !== null && included_hash !== user_op_hash
  return isOther ? 'other' : (reservation_state ?? 'none')
}

function encode(stored: DecisionEntry) {
  return {
    ...encodeDecision(stored),
    appId: stored.app_id,
    fate: fateOf(stored),
    actualCost: stored.actual_cost,
  }
}

/** Decisions of all apps of an account. */
export const decisionRecordRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/decisions',
    summary: 'Sponsorships that were given or refused, with their fate and cost, newest first',
    who: 'either',
    role: 'viewer',
    query: decisionQuery.extend({ appId: id.optional() }),
    answer: pageOf(entry),
    async run({ context, caller, query: { limit, before, from, until, ...same } }) {
      if (before !== undefined && !isUuid(before))
        throw new InvalidFieldError('before', 'must be the `next` of an earlier answer')
      const filter = defined({
        ...same,
        accountId: caller.accountId,
        sender: lower(same.sender),
        userOpHash: lower<Hex>(same.userOpHash),
        from: dateOf(from),
        until: dateOf(until),
      })
      const { items, next } = await listDecisions(context.database, filter, { limit, before })
      return { items: items.map(encode), next }
    },
  }),
  route({
    method: 'GET',
    path: '/decisions/{decisionId}',
    summary: 'One decision: who said what, what became of it, and what to do',
    who: 'either',
    role: 'viewer',
    params: z.object({ decisionId: id }),
    answer: entry.extend({
      webhookCalls: z.array(webhookCall),
      explanation: explanation.nullable(),
    }),
    async run({ context: { database }, caller, params: { decisionId } }) {
      const stored = await findDecisionEntry(database, decisionId, caller.accountId)
      if (stored === undefined) throw new NotFoundError('Decision')
      const calls = await listWebhookCalls(database, decisionId)
      return {
        ...encode(stored),
        webhookCalls: calls.map(encodeCall),
        explanation: stored.sponsored ? null : (explain(stored.code) ?? null),
      }
    },
  }),
]

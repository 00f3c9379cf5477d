import type { Hex } from 'viem'
import { contracts } from '../../../../admin/contracts.js'
import { defined } from '../../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../../errors/restErrors.js'
import { explain } from '../../../../explain/explain.js'
import {
  type DecisionEntry,
  findDecisionEntry,
  listDecisions,
} from '../../../../store/ledger/decisions.js'
import { listWebhookCalls } from '../../../../store/ledger/webhookCalls.js'
import type { ReservationState } from '../../../../store/schema.js'
import { isUuid } from '../../../../store/uuid.js'
import { type Route, serve } from '../../route.js'
import { encodeCall, encodeDecision } from '../decisions.js'
import { dateOf, lower } from './period.js'

type Fate = ReservationState | 'other' | 'none'

function fateOf({ reservation_state, included_hash, user_op_hash }: DecisionEntry): Fate {
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

export const decisionRecordRoutes: readonly Route[] = serve(contracts.decisionRecord)({
  async 'GET /decisions'({ context, caller, query: { limit, before, from, until, ...same } }) {
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
  async 'GET /decisions/{decisionId}'({ context: { database }, caller, params: { decisionId } }) {
    const stored = await findDecisionEntry(database, decisionId, caller.accountId)
    if (stored === undefined) throw new NotFoundError('Decision')
    const calls = await listWebhookCalls(database, decisionId)
    return {
      ...encode(stored),
      webhookCalls: calls.map(encodeCall),
      explanation: stored.sponsored ? null : (explain(stored.code) ?? null),
    }
  },
})

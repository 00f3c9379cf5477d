import type { Address, Hex } from 'viem'
import { contracts } from '../../../admin/contracts.js'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../errors/restErrors.js'
import {
  findDecision,
  listDecisions,
  type StoredDecision,
} from '../../../store/ledger/decisions.js'
import { listWebhookCalls, type StoredWebhookCall } from '../../../store/ledger/webhookCalls.js'
import { isUuid } from '../../../store/uuid.js'
import { type Route, serve } from '../route.js'

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
    details: stored.details as Readonly<Record<string, unknown>>,
    createdAt: stored.created_at,
  }
}

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

export const decisionRoutes: readonly Route[] = serve(contracts.decision)({
  async 'GET /apps/{appId}/decisions'({
    context,
    app,
    query: { limit, before, sender, userOpHash, ...rest },
  }) {
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
  async 'GET /apps/{appId}/decisions/{decisionId}'({ context, app, params: { decisionId } }) {
    const stored = await findDecision(context.database, decisionId)
    if (stored === undefined || stored.app_id !== app.id) throw new NotFoundError('Decision')
    const calls = await listWebhookCalls(context.database, decisionId)
    const webhookCalls = calls.map(encodeCall)
    return { ...encodeDecision(stored), webhookCalls }
  },
})

import { contracts } from '../../../admin/contracts.js'
import { WebhookNotFoundError } from '../../../errors/restErrors.js'
import { listCallsOfWebhook } from '../../../store/ledger/webhookCalls.js'
import { listCircuitChanges } from '../../../store/records/circuits.js'
import { findWebhook } from '../../../store/tenants/webhooks.js'
import { cursorNumber } from '../cursor.js'
import { type Route, serve } from '../route.js'

export const webhookCallRoutes: readonly Route[] = serve(contracts.webhookCall)({
  async 'POST /apps/{appId}/webhooks/{webhookId}/test'({ context, app, params: { webhookId } }) {
    const webhook = await findWebhook(context.database, app.id, webhookId)
    if (webhook === undefined) throw new WebhookNotFoundError()
    const { call, request } = await context.testWebhook(webhook)
    return {
      ...call,
      httpStatus: call.httpStatus ?? null,
      reason: call.reason ?? null,
      request: { ...request, url: request.url.href, body: request.body?.toString() ?? null },
    }
  },
  async 'GET /apps/{appId}/webhooks/{webhookId}/calls'({
    context,
    app,
    params: { webhookId },
    query: { limit, before },
  }) {
    const { database } = context
    const webhook = await findWebhook(database, app.id, webhookId)
    if (webhook === undefined) throw new WebhookNotFoundError()
    const page = { limit, before: cursorNumber(before) }
    const { items, next } = await listCallsOfWebhook(database, app.id, webhookId, page)
    const encoded = items.map((call) => ({
      id: call.id,
      decisionId: call.decision_id,
      outcome: call.outcome,
      httpStatus: call.http_status,
      reason: call.reason,
      attempts: call.attempts,
      durationMs: call.duration_ms,
      startedAt: call.started_at,
    }))
    return { items: encoded, next }
  },
  async 'GET /apps/{appId}/webhooks/{webhookId}/circuit'({
    context: { database },
    app,
    params: { webhookId },
  }) {
    if ((await findWebhook(database, app.id, webhookId)) === undefined)
      throw new WebhookNotFoundError()
    const changes = await listCircuitChanges(database, webhookId)
    return { state: changes[0]?.state ?? 'closed', changes }
  },
})

import { z } from 'zod'
import { WebhookNotFoundError } from '../../../errors/restErrors.js'
import { listCallsOfWebhook } from '../../../store/ledger/webhookCalls.js'
import { listCircuitChanges } from '../../../store/records/circuits.js'
import { findWebhook } from '../../../store/tenants/webhooks.js'
import { appParams, id, pageOf, pageQuery, time } from '../../adminSchemas.js'
import { cursorNumber } from '../cursor.js'
import { type Route, route } from '../route.js'

const params = appParams.extend({ webhookId: id })

const result = z.object({
  outcome: z.string(),
  httpStatus: z.int().nullable(),
  reason: z.string().nullable(),
  attempts: z.int(),
  durationMs: z.number(),
  startedAt: time,
})

/** Each process has a circuit of its own; the newest change of any of them counts. */
const circuit = z.enum(['open', 'closed'])

/** The calls of a webhook with their outcomes, and its circuit. */
export const webhookCallRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/apps/{appId}/webhooks/{webhookId}/test',
    summary: 'Call the webhook once with {"purserTest": true}; decides and keeps nothing',
    who: 'account',
    role: 'developer',
    params,
    answer: result,
    async run({ context, app, params: { webhookId } }) {
      const webhook = await findWebhook(context.database, app.id, webhookId)
      if (webhook === undefined) throw new WebhookNotFoundError()
      const call = await context.testWebhook(webhook)
      return { ...call, httpStatus: call.httpStatus ?? null, reason: call.reason ?? null }
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/webhooks/{webhookId}/calls',
    summary: 'The calls that sponsorships made, newest first',
    who: 'account',
    role: 'viewer',
    params,
    query: pageQuery,
    answer: pageOf(result.extend({ id: z.string(), decisionId: id })),
    async run({ context, app, params: { webhookId }, query: { limit, before } }) {
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
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/webhooks/{webhookId}/circuit',
    summary: 'Whether the webhook is left alone because it fails, and the newest changes of that',
    who: 'account',
    role: 'viewer',
    params,
    answer: z.object({ state: circuit, changes: z.array(z.object({ at: time, state: circuit })) }),
    async run({ context: { database }, app, params: { webhookId } }) {
      if ((await findWebhook(database, app.id, webhookId)) === undefined)
        throw new WebhookNotFoundError()
      const changes = await listCircuitChanges(database, webhookId)
      return { state: changes[0]?.state ?? 'closed', changes }
    },
  }),
]

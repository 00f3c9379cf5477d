import { z } from 'zod'
import { camelCased } from '../../../db/camelCased.js'
import { listCallsOfWebhook } from '../../../paymaster/ledger/webhookCalls.js'
import { listCircuitChanges } from '../../../records/circuits.js'
import { id, pageOf, pageByNumber, time } from '../../../tenants/schemas.js'
import { findWebhook } from '../../../webhooks/manage.js'
import { route } from '../../adminContext.js'

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
export const webhookCallRoutes = [
  route('POST /apps/{appId}/webhooks/{webhookId}/test', {
    command: 'test',
    summary: 'Call the webhook once with {"purserTest": true}; decides and keeps nothing',
    role: 'developer',
    answer: result.extend({
      /** As it was sent, to the byte: `body` and, of a GET, the query of `url` are what is signed. */
      request: z.object({
        method: z.enum(['GET', 'POST']),
        url: z.string(),
        headers: z.record(z.string(), z.string()),
        body: z.string().nullable(),
      }),
    }),
    async run({ context, app, params: { webhookId } }) {
      const webhook = await findWebhook(context.database, app.id, webhookId)
      if (webhook === undefined) return undefined
      const { call, request } = await context.testWebhook(webhook)
      return {
        ...call,
        httpStatus: call.httpStatus ?? null,
        reason: call.reason ?? null,
        request: { ...request, url: request.url.href, body: request.body?.toString() ?? null },
      }
    },
  }),
  route('GET /apps/{appId}/webhooks/{webhookId}/calls', {
    command: 'calls',
    summary: 'The calls that sponsorships made, newest first',
    role: 'viewer',
    query: pageByNumber,
    answer: pageOf(result.extend({ id: z.string(), decisionId: id })),
    async run({ context, app, params: { webhookId }, query: { limit, before } }) {
      const { database } = context
      const webhook = await findWebhook(database, app.id, webhookId)
      if (webhook === undefined) return undefined
      const page = { limit, before }
      const { items, next } = await listCallsOfWebhook(database, app.id, webhookId, page)
      return { items: items.map(camelCased), next }
    },
  }),
  route('GET /apps/{appId}/webhooks/{webhookId}/circuit', {
    command: 'circuit',
    summary: 'The state of the circuit breaker of the webhook, and its newest changes',
    role: 'viewer',
    answer: z.object({ state: circuit, changes: z.array(z.object({ at: time, state: circuit })) }),
    async run({ context: { database }, app, params: { webhookId } }) {
      if ((await findWebhook(database, app.id, webhookId)) === undefined) return undefined
      const changes = await listCircuitChanges(database, webhookId)
      return { state: changes[0]?.state ?? 'closed', changes }
    },
  }),
]

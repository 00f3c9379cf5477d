import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { eventTypes } from '../../../base/vocabulary.js'
import { listCallsOfWebhook } from '../../../paymaster/ledger/webhookCalls.js'
import { listCircuitChanges } from '../../../records/circuits.js'
import { cursorNumber } from '../../../tenants/route.js'
import {
  done,
  id,
  listOf,
  pageOf,
  pageQuery,
  signingSecret,
  time,
  webhook,
  webhookSettings,
} from '../../../tenants/schemas.js'
import { listDeliveries } from '../../../webhooks/deliveries.js'
import { findWebhook } from '../../../webhooks/manage.js'
import { findSubscription } from '../../../webhooks/subscriptions.js'
import { route } from '../../adminContext.js'
import { camelCased } from '../camelCased.js'
import { dateOf } from './overview.js'

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

const types = z.array(z.enum(eventTypes)).min(1)

const subscription = z.object({
  id,
  url: z.string(),
  eventTypes: types,
  active: z.boolean(),
  disabledReason: z.string().nullable(),
  failingSince: time.nullable(),
  createdAt: time,
})

const delivery = z.object({
  id: z.string(),
  eventId: id,
  type: z.enum(eventTypes),
  occurredAt: time,
  data: z.record(z.string(), z.unknown()),
  state: z.enum(['pending', 'delivered', 'failed']),
  attempts: z.int(),
  nextAttemptAt: time.nullable(),
  outcome: z.string().nullable(),
  httpStatus: z.int().nullable(),
  reason: z.string().nullable(),
  /** The newest twelve at most, the oldest first. */
  recentAttempts: z.array(
    z.object({
      at: time,
      attempt: z.int(),
      milliseconds: z.int(),
      outcome: z.string(),
      httpStatus: z.int().nullable(),
      reason: z.string().nullable(),
    }),
  ),
})

export const webhookRoutes = [
  route('GET /apps/{appId}/webhooks', {
    command: 'list',
    summary: 'The webhooks that approve sponsorships of an app',
    role: 'viewer',
    answer: listOf(webhook),
    run: ({ context, caller, app }) => context.webhooks(caller.actor).list(app.id),
  }),
  route('POST /apps/{appId}/webhooks', {
    command: 'create',
    summary: 'Register a webhook, active at once; its secret is in the answer',
    role: 'developer',
    status: 201,
    body: webhookSettings.partial().extend({
      webhookUrl: z.string().max(2_048),
      requestType: z.enum(['GET', 'POST']),
    }),
    answer: z.object({ webhook, ...signingSecret.shape }),
    async run({ context, caller, app, body }) {
      const webhooks = context.webhooks(caller.actor)
      const webhook = await webhooks.create(app.id, defined(body))
      const signingSecret = await webhooks.signingSecret(app.id, webhook.webhookId)
      return signingSecret === undefined ? undefined : { webhook, signingSecret }
    },
  }),
  route('GET /apps/{appId}/webhooks/{webhookId}', {
    summary: 'One webhook',
    role: 'viewer',
    answer: webhook,
    run: ({ context, caller, app, params }) =>
      context.webhooks(caller.actor).get(app.id, params.webhookId),
  }),
  route('PATCH /apps/{appId}/webhooks/{webhookId}', {
    command: 'set',
    summary: 'Change how a webhook is asked, or whether',
    role: 'developer',
    body: webhookSettings.extend({ active: z.boolean() }).partial(),
    answer: webhook,
    run: ({ context, caller, app, params, body }) =>
      context.webhooks(caller.actor).change(app.id, params.webhookId, defined(body)),
  }),
  route('POST /apps/{appId}/webhooks/{webhookId}/secret', {
    command: 'rotate',
    summary: 'A new signing secret; the old one signs too for 24 h',
    role: 'developer',
    status: 201,
    answer: signingSecret,
    async run({ context, caller, app, params }) {
      const secret = await context.webhooks(caller.actor).rotateSecret(app.id, params.webhookId)
      return secret === undefined ? undefined : { signingSecret: secret }
    },
  }),
  route('DELETE /apps/{appId}/webhooks/{webhookId}', {
    command: 'delete',
    summary: 'Delete a webhook',
    role: 'developer',
    answer: done,
    run: ({ context, caller, app, params }) =>
      context.webhooks(caller.actor).delete(app.id, params.webhookId),
  }),
]

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
    query: pageQuery,
    answer: pageOf(result.extend({ id: z.string(), decisionId: id })),
    async run({ context, app, params: { webhookId }, query: { limit, before } }) {
      const { database } = context
      const webhook = await findWebhook(database, app.id, webhookId)
      if (webhook === undefined) return undefined
      const page = { limit, before: cursorNumber(before) }
      const { items, next } = await listCallsOfWebhook(database, app.id, webhookId, page)
      return { items: items.map(camelCased), next }
    },
  }),
  route('GET /apps/{appId}/webhooks/{webhookId}/circuit', {
    command: 'circuit',
    summary: 'Whether the webhook is left alone because it fails, and the newest changes of that',
    role: 'viewer',
    answer: z.object({ state: circuit, changes: z.array(z.object({ at: time, state: circuit })) }),
    async run({ context: { database }, app, params: { webhookId } }) {
      if ((await findWebhook(database, app.id, webhookId)) === undefined) return undefined
      const changes = await listCircuitChanges(database, webhookId)
      return { state: changes[0]?.state ?? 'closed', changes }
    },
  }),
]

/** An address to which an app's events go. */
export const subscriptionRoutes = [
  route('GET /apps/{appId}/subscriptions', {
    command: 'list',
    summary: "Where the app's events go",
    role: 'viewer',
    answer: listOf(subscription),
    run: ({ context, caller, app }) => context.subscriptions(caller.actor).list(app.id),
  }),
  route('POST /apps/{appId}/subscriptions', {
    command: 'create',
    summary: 'Send events to a URL from now on; the signing secret is in the answer',
    role: 'developer',
    status: 201,
    body: z.strictObject({ url: z.string().max(2_048), eventTypes: types }),
    answer: z.object({ subscription, ...signingSecret.shape }),
    run: ({ context, caller, app, body }) =>
      context.subscriptions(caller.actor).create(app.id, body),
  }),
  route('GET /apps/{appId}/subscriptions/{subscriptionId}', {
    summary: 'One subscription',
    role: 'viewer',
    answer: subscription,
    run: ({ context, caller, app, params }) =>
      context.subscriptions(caller.actor).get(app.id, params.subscriptionId),
  }),
  route('PATCH /apps/{appId}/subscriptions/{subscriptionId}', {
    command: 'set',
    summary: 'Other events, or a pause; one that was ended by failures begins again when active',
    role: 'developer',
    body: z.strictObject({ eventTypes: types, active: z.boolean() }).partial(),
    answer: subscription,
    run: ({ context, caller, app, params, body }) =>
      context.subscriptions(caller.actor).change(app.id, params.subscriptionId, defined(body)),
  }),
  route('POST /apps/{appId}/subscriptions/{subscriptionId}/secret', {
    command: 'rotate',
    summary: 'A new signing secret; the old one signs too for 24 h',
    role: 'developer',
    status: 201,
    answer: signingSecret,
    async run(request) {
      const { context, caller, app, params } = request
      const subscriptions = context.subscriptions(caller.actor)
      const secret = await subscriptions.rotateSecret(app.id, params.subscriptionId)
      return secret === undefined ? undefined : { signingSecret: secret }
    },
  }),
  route('POST /apps/{appId}/subscriptions/{subscriptionId}/replay', {
    command: 'replay',
    summary: 'Deliver kept events again: one, those since a time, those that were given up, or all',
    role: 'developer',
    body: z.strictObject({ eventId: id, since: time, onlyFailed: z.boolean() }).partial(),
    answer: z.object({ count: z.int() }),
    async run(request) {
      const { context, caller, app, params, body } = request
      const { eventId, since, onlyFailed = false } = body
      const which = { eventId, since: dateOf(since), onlyFailed }
      const subscriptions = context.subscriptions(caller.actor)
      const count = await subscriptions.replay(app.id, params.subscriptionId, which)
      return count === undefined ? undefined : { count }
    },
  }),
  route('GET /apps/{appId}/subscriptions/{subscriptionId}/deliveries', {
    command: 'deliveries',
    summary: 'What became of the events of the last 30 days, newest first',
    role: 'viewer',
    query: pageQuery,
    answer: pageOf(delivery),
    async run({ context, app, params: { subscriptionId }, query: { limit, before } }) {
      const { database } = context
      const found = await findSubscription(database, app.id, subscriptionId)
      if (found === undefined) return undefined
      const page = { limit, before: cursorNumber(before) }
      const { items, next } = await listDeliveries(database, subscriptionId, page)
      const encoded = items.map((each) => ({
        ...camelCased(each),
        data: each.data as Readonly<Record<string, unknown>>,
        nextAttemptAt: each.state === 'pending' ? each.next_attempt_at : null,
      }))
      return { items: encoded, next }
    },
  }),
  route('DELETE /apps/{appId}/subscriptions/{subscriptionId}', {
    command: 'delete',
    summary: 'Send no more; what was not delivered is forgotten',
    role: 'developer',
    answer: done,
    run: ({ context, caller, app, params }) =>
      context.subscriptions(caller.actor).delete(app.id, params.subscriptionId),
  }),
]

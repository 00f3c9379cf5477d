import { defined } from '../../../base/defined.js'
import { listCallsOfWebhook } from '../../../paymaster/ledger/webhookCalls.js'
import { listCircuitChanges } from '../../../records/circuits.js'
import { listDeliveries } from '../../../webhooks/deliveries.js'
import { findWebhook } from '../../../webhooks/manage.js'
import { findSubscription } from '../../../webhooks/subscriptions.js'
import { contracts } from '../../contracts/contracts.js'
import { camelCased } from '../camelCased.js'
import { cursorNumber, type Route, serve } from '../route.js'
import { dateOf } from './overview.js'

export const webhookRoutes: readonly Route[] = serve(contracts.webhook)({
  'GET /apps/{appId}/webhooks': ({ context, caller, app }) =>
    context.webhooks(caller.actor).list(app.id),
  async 'POST /apps/{appId}/webhooks'({ context, caller, app, body }) {
    const webhooks = context.webhooks(caller.actor)
    const webhook = await webhooks.create(app.id, defined(body))
    const signingSecret = await webhooks.signingSecret(app.id, webhook.webhookId)
    return signingSecret === undefined ? undefined : { webhook, signingSecret }
  },
  'GET /apps/{appId}/webhooks/{webhookId}': ({ context, caller, app, params }) =>
    context.webhooks(caller.actor).get(app.id, params.webhookId),
  'PATCH /apps/{appId}/webhooks/{webhookId}': ({ context, caller, app, params, body }) =>
    context.webhooks(caller.actor).change(app.id, params.webhookId, defined(body)),
  async 'POST /apps/{appId}/webhooks/{webhookId}/secret'({ context, caller, app, params }) {
    const secret = await context.webhooks(caller.actor).rotateSecret(app.id, params.webhookId)
    return secret === undefined ? undefined : { signingSecret: secret }
  },
  'DELETE /apps/{appId}/webhooks/{webhookId}': ({ context, caller, app, params }) =>
    context.webhooks(caller.actor).delete(app.id, params.webhookId),
})

export const webhookCallRoutes: readonly Route[] = serve(contracts.webhookCall)({
  async 'POST /apps/{appId}/webhooks/{webhookId}/test'({ context, app, params: { webhookId } }) {
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
  async 'GET /apps/{appId}/webhooks/{webhookId}/calls'({
    context,
    app,
    params: { webhookId },
    query: { limit, before },
  }) {
    const { database } = context
    const webhook = await findWebhook(database, app.id, webhookId)
    if (webhook === undefined) return undefined
    const page = { limit, before: cursorNumber(before) }
    const { items, next } = await listCallsOfWebhook(database, app.id, webhookId, page)
    return { items: items.map(camelCased), next }
  },
  async 'GET /apps/{appId}/webhooks/{webhookId}/circuit'({
    context: { database },
    app,
    params: { webhookId },
  }) {
    if ((await findWebhook(database, app.id, webhookId)) === undefined) return undefined
    const changes = await listCircuitChanges(database, webhookId)
    return { state: changes[0]?.state ?? 'closed', changes }
  },
})

export const subscriptionRoutes: readonly Route[] = serve(contracts.subscription)({
  'GET /apps/{appId}/subscriptions': ({ context, caller, app }) =>
    context.subscriptions(caller.actor).list(app.id),
  'POST /apps/{appId}/subscriptions': ({ context, caller, app, body }) =>
    context.subscriptions(caller.actor).create(app.id, body),
  'GET /apps/{appId}/subscriptions/{subscriptionId}': ({ context, caller, app, params }) =>
    context.subscriptions(caller.actor).get(app.id, params.subscriptionId),
  'PATCH /apps/{appId}/subscriptions/{subscriptionId}': ({ context, caller, app, params, body }) =>
    context.subscriptions(caller.actor).change(app.id, params.subscriptionId, defined(body)),
  async 'POST /apps/{appId}/subscriptions/{subscriptionId}/secret'(request) {
    const { context, caller, app, params } = request
    const subscriptions = context.subscriptions(caller.actor)
    const secret = await subscriptions.rotateSecret(app.id, params.subscriptionId)
    return secret === undefined ? undefined : { signingSecret: secret }
  },
  async 'POST /apps/{appId}/subscriptions/{subscriptionId}/replay'(request) {
    const { context, caller, app, params, body } = request
    const { eventId, since, onlyFailed = false } = body
    const which = { eventId, since: dateOf(since), onlyFailed }
    const subscriptions = context.subscriptions(caller.actor)
    const count = await subscriptions.replay(app.id, params.subscriptionId, which)
    return count === undefined ? undefined : { count }
  },
  async 'GET /apps/{appId}/subscriptions/{subscriptionId}/deliveries'({
    context,
    app,
    params: { subscriptionId },
    query: { limit, before },
  }) {
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
  'DELETE /apps/{appId}/subscriptions/{subscriptionId}': ({ context, caller, app, params }) =>
    context.subscriptions(caller.actor).delete(app.id, params.subscriptionId),
})

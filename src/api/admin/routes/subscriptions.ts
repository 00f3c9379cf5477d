import { contracts } from '../../../admin/contracts.js'
import { defined } from '../../../base/defined.js'
import { NotFoundError } from '../../../errors/restErrors.js'
import { listDeliveries } from '../../../store/tenants/deliveries.js'
import { findSubscription } from '../../../store/tenants/subscriptions.js'
import { cursorNumber } from '../cursor.js'
import { type Route, serve } from '../route.js'

function missing() {
  return new NotFoundError('Subscription')
}

export const subscriptionRoutes: readonly Route[] = serve(contracts.subscription)({
  'GET /apps/{appId}/subscriptions': async ({ context, caller, app }) => ({
    items: await context.subscriptions(caller.actor).list(app.id),
  }),
  'POST /apps/{appId}/subscriptions': ({ context, caller, app, body }) =>
    context.subscriptions(caller.actor).create(app.id, body),
  async 'GET /apps/{appId}/subscriptions/{subscriptionId}'({
    context,
    caller,
    app,
    params: { subscriptionId },
  }) {
    const found = await context.subscriptions(caller.actor).get(app.id, subscriptionId)
    if (found === undefined) throw missing()
    return found
  },
  async 'PATCH /apps/{appId}/subscriptions/{subscriptionId}'({
    context,
    caller,
    app,
    params: { subscriptionId },
    body,
  }) {
    const changed = await context
      .subscriptions(caller.actor)
      .change(app.id, subscriptionId, defined(body))
    if (changed === undefined) throw missing()
    return changed
  },
  async 'POST /apps/{appId}/subscriptions/{subscriptionId}/secret'({
    context,
    caller,
    app,
    params: { subscriptionId },
  }) {
    const secret = await context.subscriptions(caller.actor).rotateSecret(app.id, subscriptionId)
    if (secret === undefined) throw missing()
    return { signingSecret: secret }
  },
  async 'POST /apps/{appId}/subscriptions/{subscriptionId}/replay'({
    context,
    caller,
    app,
    params: { subscriptionId },
    body: { eventId, since, onlyFailed = false },
  }) {
    const from = since === undefined ? undefined : new Date(since)
    const which = { eventId, since: from, onlyFailed }
    const count = await context.subscriptions(caller.actor).replay(app.id, subscriptionId, which)
    if (count === undefined) throw missing()
    return { count }
  },
  async 'GET /apps/{appId}/subscriptions/{subscriptionId}/deliveries'({
    context,
    app,
    params: { subscriptionId },
    query: { limit, before },
  }) {
    const { database } = context
    const found = await findSubscription(database, app.id, subscriptionId)
    if (found === undefined) throw missing()
    const page = { limit, before: cursorNumber(before) }
    const { items, next } = await listDeliveries(database, subscriptionId, page)
    const encoded = items.map((each) => ({
      id: each.id,
      eventId: each.event_id,
      type: each.type,
      data: each.data as Readonly<Record<string, unknown>>,
      state: each.state,
      attempts: each.attempts,
      outcome: each.outcome,
      occurredAt: each.occurred_at,
      nextAttemptAt: each.state === 'pending' ? each.next_attempt_at : null,
      httpStatus: each.http_status,
      reason: each.reason,
      recentAttempts: each.recent_attempts,
    }))
    return { items: encoded, next }
  },
  async 'DELETE /apps/{appId}/subscriptions/{subscriptionId}'({
    context,
    caller,
    app,
    params: { subscriptionId },
  }) {
    if (!(await context.subscriptions(caller.actor).delete(app.id, subscriptionId))) throw missing()
    return { done: true }
  },
})

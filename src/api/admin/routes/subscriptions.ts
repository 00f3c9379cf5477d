import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { NotFoundError } from '../../../errors/restErrors.js'
import { eventTypes } from '../../../store/events.js'
import { listDeliveries } from '../../../store/tenants/deliveries.js'
import { findSubscription } from '../../../store/tenants/subscriptions.js'
import {
  appParams,
  done,
  id,
  listOf,
  pageOf,
  pageQuery,
  signingSecret,
  time,
} from '../../adminSchemas.js'
import { cursorNumber } from '../cursor.js'
import { type Route, route } from '../route.js'

const params = appParams.extend({ subscriptionId: id })
function missing() {
  return new NotFoundError('Subscription')
}
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
})

/** An address to which an app's events go. */
export const subscriptionRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/apps/{appId}/subscriptions',
    summary: "Where the app's events go",
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(subscription),
    run: async ({ context, caller, app }) => ({
      items: await context.subscriptions(caller.actor).list(app.id),
    }),
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/subscriptions',
    summary: 'Send events to a URL from now on; the signing secret is in the answer',
    who: 'account',
    role: 'developer',
    status: 201,
    params: appParams,
    body: z.strictObject({ url: z.string().max(2_048), eventTypes: types }),
    answer: z.object({ subscription, ...signingSecret.shape }),
    run: ({ context, caller, app, body }) =>
      context.subscriptions(caller.actor).create(app.id, body),
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/subscriptions/{subscriptionId}',
    summary: 'One subscription',
    who: 'account',
    role: 'viewer',
    params,
    answer: subscription,
    async run({ context, caller, app, params: { subscriptionId } }) {
      const found = await context.subscriptions(caller.actor).get(app.id, subscriptionId)
      if (found === undefined) throw missing()
      return found
    },
  }),
  route({
    method: 'PATCH',
    path: '/apps/{appId}/subscriptions/{subscriptionId}',
    summary: 'Other events, or a pause; one that was ended by failures begins again when active',
    who: 'account',
    role: 'developer',
    params,
    body: z.strictObject({ eventTypes: types, active: z.boolean() }).partial(),
    answer: subscription,
    async run({ context, caller, app, params: { subscriptionId }, body }) {
      const changed = await context
        .subscriptions(caller.actor)
        .change(app.id, subscriptionId, defined(body))
      if (changed === undefined) throw missing()
      return changed
    },
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/subscriptions/{subscriptionId}/secret',
    summary: 'A new signing secret; the old one signs too for 24 h',
    who: 'account',
    role: 'developer',
    status: 201,
    params,
    answer: signingSecret,
    async run({ context, caller, app, params: { subscriptionId } }) {
      const secret = await context.subscriptions(caller.actor).rotateSecret(app.id, subscriptionId)
      if (secret === undefined) throw missing()
      return { signingSecret: secret }
    },
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/subscriptions/{subscriptionId}/replay',
    summary: 'Deliver kept events again: one, those since a time, or all',
    who: 'account',
    role: 'developer',
    params,
    body: z.strictObject({ eventId: id, since: time }).partial(),
    answer: z.object({ count: z.int() }),
    async run({ context, caller, app, params: { subscriptionId }, body: { eventId, since } }) {
      const which = { eventId, since: since === undefined ? undefined : new Date(since) }
      const count = await context.subscriptions(caller.actor).replay(app.id, subscriptionId, which)
      if (count === undefined) throw missing()
      return { count }
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/subscriptions/{subscriptionId}/deliveries',
    summary: 'What became of the events of the last 30 days, newest first',
    who: 'account',
    role: 'viewer',
    params,
    query: pageQuery,
    answer: pageOf(delivery),
    async run({ context, app, params: { subscriptionId }, query: { limit, before } }) {
      const { database } = context
      const found = await findSubscription(database, app.id, subscriptionId)
      if (found === undefined) throw missing()
      const page = { limit, before: cursorNumber(before) }
      const { items, next } = await listDeliveries(database, subscriptionId, page)
      const encoded = items.map((each) => ({
        id: each.id,
        eventId: each.event_id,
        type: each.type,
        data: each.data,
        state: each.state,
        attempts: each.attempts,
        outcome: each.outcome,
        occurredAt: each.occurred_at,
        nextAttemptAt: each.state === 'pending' ? each.next_attempt_at : null,
        httpStatus: each.http_status,
        reason: each.reason,
      }))
      return { items: encoded, next }
    },
  }),
  route({
    method: 'DELETE',
    path: '/apps/{appId}/subscriptions/{subscriptionId}',
    summary: 'Send no more; what was not delivered is forgotten',
    who: 'account',
    role: 'developer',
    params,
    answer: done,
    async run({ context, caller, app, params: { subscriptionId } }) {
      if (!(await context.subscriptions(caller.actor).delete(app.id, subscriptionId)))
        throw missing()
      return { done: true }
    },
  }),
]

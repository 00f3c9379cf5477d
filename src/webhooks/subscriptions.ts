import { sql } from 'kysely'
import { z } from 'zod'
import { defined } from '../base/defined.js'
import { InvalidParamsError } from '../base/errors/requestErrors.js'
import { type EventType, eventTypes } from '../base/vocabulary.js'
import { camelCased } from '../db/camelCased.js'
import type { Database } from '../db/database.js'
import { type Actor, audited } from '../tenants/audit.js'
import { changeRow, findRow, resource } from '../tenants/resource.js'
import { routesOn } from '../tenants/route.js'
import {
  date,
  done,
  id,
  listOf,
  pageOf,
  pageByNumber,
  signingSecret,
  time,
} from '../tenants/schemas.js'
import { listDeliveries, type Replay, replayDeliveries } from './deliveries.js'
import { createReceivers, MAX_PER_APP, requireCallable, type WebhooksContext } from './receivers.js'

const types = z.array(z.enum(eventTypes)).min(1)

/** A URL that receives an app's events. */
const subscription = z.object({
  id,
  url: z.string(),
  eventTypes: types,
  active: z.boolean(),
  /** The reason why the service ended it by itself; null = it did not. */
  disabledReason: z.string().nullable(),
  failingSince: time.nullable(),
  createdAt: time,
})

export const subscriptions = resource({
  name: 'subscription',
  table: 'event_subscriptions',
  shown: subscription,
  limit: { of: 'app', most: MAX_PER_APP, noun: 'subscriptions' },
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

/** The subscriptions of one app; to any other app they do not exist (undefined or false). */
export type Subscriptions = ReturnType<typeof createSubscriptions>

export function createSubscriptions(context: WebhooksContext) {
  const { create, update, ...receivers } = createReceivers(subscriptions, context)
  return {
    ...receivers,
    /**
     * Creates one. Throws InvalidParamsError for a URL that would never be called, and
     * TenantLimitError.
     */
    async create(
      appId: string,
      { url, eventTypes }: { readonly url: string; readonly eventTypes: readonly EventType[] },
    ) {
      requireCallable('url', url, context.guard)
      const made = await create(appId, { url, event_types: requireTypes(eventTypes) })
      return { subscription: made.receiver, signingSecret: made.signingSecret }
    },
    /** Changes a subscription; one that is made active again begins with a clean record. */
    change: (
      appId: string,
      id: string,
      { eventTypes, active }: { eventTypes?: readonly EventType[]; active?: boolean },
    ) =>
      update(appId, id, () => ({
        event_types: eventTypes && requireTypes(eventTypes),
        active,
        ...(active === true && { failing_since: null, disabled_reason: null }),
      })),
    /** Delivers stored events again; returns their number. */
    replay: (appId: string, id: string, choice: Replay): Promise<number | undefined> =>
      audited(context.database, context.actor, (change) =>
        changeRow(change, subscriptions, { app_id: appId, id }, 'replay', async () => {
          const count = await replayDeliveries(change.trx, id, choice)
          return { after: count, entry: { after: { ...choice, count } } }
        }),
      ),
  }
}

function requireTypes(eventTypes: readonly EventType[]): string[] {
  if (eventTypes.length === 0) throw new InvalidParamsError('eventTypes', 'must not be empty.')
  return [...new Set(eventTypes)]
}

/** Stores that a delivery succeeded. */
export async function noteWorking(db: Database, id: string): Promise<void> {
  await db
    .updateTable('event_subscriptions')
    .set({ failing_since: null })
    .where('id', '=', id)
    .where('failing_since', 'is not', null)
    .execute()
}

/**
 * Stores that a delivery failed, and ends the subscription when all have failed for `days`.
 * @returns whether it was ended
 */
export async function noteFailing(db: Database, id: string, days: number): Promise<boolean> {
  const row = await db
    .updateTable('event_subscriptions')
    .set({ failing_since: sql<Date>`coalesce(failing_since, now())` })
    .where('id', '=', id)
    .returning(sql<boolean>`failing_since < now() - make_interval(days => ${days})`.as('tooLong'))
    .executeTakeFirst()
  if (row?.tooLong !== true) return false
  await disableSubscription(db, id, `every delivery failed for ${days} days`)
  return true
}

/** @returns whether it was active until now */
export async function disableSubscription(
  db: Database,
  id: string,
  reason: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('event_subscriptions')
    .set({ active: false, disabled_reason: reason, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('active', '=', true)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

const route = routesOn<{
  readonly database: Database
  subscriptions(actor: Actor): Subscriptions
}>()

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
    summary: 'Send events to a URL from now on; the answer holds the signing secret',
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
    summary: 'Change its events, or pause it; one that failures ended resumes when set active',
    role: 'developer',
    body: z.strictObject({ eventTypes: types, active: z.boolean() }).partial(),
    answer: subscription,
    run: ({ context, caller, app, params, body }) =>
      context.subscriptions(caller.actor).change(app.id, params.subscriptionId, defined(body)),
  }),
  route('POST /apps/{appId}/subscriptions/{subscriptionId}/secret', {
    command: 'rotate',
    summary: 'Rotate the signing secret; the old one also signs for 24 h',
    role: 'developer',
    status: 201,
    answer: signingSecret,
    run: ({ context, caller, app, params }) =>
      context.subscriptions(caller.actor).rotateSecret(app.id, params.subscriptionId),
  }),
  route('POST /apps/{appId}/subscriptions/{subscriptionId}/replay', {
    command: 'replay',
    summary: 'Deliver kept events again: one, those since a time, those that were given up, or all',
    role: 'developer',
    body: z.strictObject({ eventId: id, since: date, onlyFailed: z.boolean() }).partial(),
    answer: z.object({ count: z.int() }),
    async run({ context, caller, app, params, body: { eventId, since, onlyFailed = false } }) {
      const count = await context
        .subscriptions(caller.actor)
        .replay(app.id, params.subscriptionId, { eventId, since, onlyFailed })
      return count === undefined ? undefined : { count }
    },
  }),
  route('GET /apps/{appId}/subscriptions/{subscriptionId}/deliveries', {
    command: 'deliveries',
    summary: 'Deliveries of the last 30 days, newest first',
    role: 'viewer',
    query: pageByNumber,
    answer: pageOf(delivery),
    async run({ context, app, params: { subscriptionId }, query: { limit, before } }) {
      const { database } = context
      const found = await findRow(database, subscriptions, {
        app_id: app.id,
        id: subscriptionId,
      })
      if (found === undefined) return undefined
      const page = { limit, before }
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
    summary: 'Delete the subscription; undelivered events are discarded',
    role: 'developer',
    answer: done,
    run: ({ context, caller, app, params }) =>
      context.subscriptions(caller.actor).delete(app.id, params.subscriptionId),
  }),
]

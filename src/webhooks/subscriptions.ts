import { type Selectable, sql } from 'kysely'
import { InvalidParamsError } from '../base/errors/requestErrors.js'
import type { EventType } from '../base/vocabulary.js'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import { type Replay, replayDeliveries } from './deliveries.js'
import {
  createReceivers,
  findReceiver,
  requireCallable,
  type WebhooksContext,
} from './receivers.js'

/** A URL that receives an app's events. */
type Subscription = {
  readonly id: string
  readonly url: string
  readonly eventTypes: readonly EventType[]
  readonly active: boolean
  /** The reason why the service ended it by itself; null = it did not. */
  readonly disabledReason: string | null
  readonly failingSince: Date | null
  readonly createdAt: Date
}

/** The subscriptions of one app; to any other app they do not exist (undefined or false). */
export type Subscriptions = ReturnType<typeof createSubscriptions>

export function createSubscriptions(context: WebhooksContext) {
  const {
    create,
    update,
    changeOne,
    entry,
    list,
    get,
    rotateSecret,
    delete: remove,
  } = createReceivers(subscriptionKind, context)
  return {
    /**
     * Creates one. Throws InvalidParamsError for a URL that would never be called, and
     * TenantLimitError.
     */
    async create(
      appId: string,
      { url, eventTypes }: Pick<Subscription, 'url' | 'eventTypes'>,
    ): Promise<{ readonly subscription: Subscription; readonly signingSecret: string }> {
      requireCallable('url', url, context.guard)
      const made = await create(appId, { url, event_types: requireTypes(eventTypes) })
      return { subscription: made.after, signingSecret: made.signingSecret }
    },
    list,
    get,
    /** Changes a subscription; one that is made active again begins with a clean record. */
    change: (
      appId: string,
      id: string,
      { eventTypes, active }: Partial<Pick<Subscription, 'eventTypes' | 'active'>>,
    ): Promise<Subscription | undefined> =>
      update(appId, id, () => ({
        ...(eventTypes !== undefined && { event_types: requireTypes(eventTypes) }),
        ...(active !== undefined && { active }),
        ...(active === true && { failing_since: null, disabled_reason: null }),
      })),
    rotateSecret,
    delete: remove,
    /** Delivers stored events again; returns their number. */
    replay: (appId: string, id: string, choice: Replay): Promise<number | undefined> =>
      changeOne(appId, id, async ({ trx, record }, stored) => {
        const count = await replayDeliveries(trx, id, choice)
        await record({ ...(await entry(trx, 'replay', stored)), after: { ...choice, count } })
        return count
      }),
  }
}

function requireTypes(eventTypes: readonly EventType[]): string[] {
  if (eventTypes.length === 0) throw new InvalidParamsError('eventTypes', 'must not be empty.')
  return [...new Set(eventTypes)]
}

const subscriptionKind = {
  table: 'event_subscriptions',
  name: 'subscription',
  view: (stored: StoredSubscription): Subscription => ({
    id: stored.id,
    url: stored.url,
    eventTypes: stored.event_types as EventType[],
    active: stored.active,
    disabledReason: stored.disabled_reason,
    failingSince: stored.failing_since,
    createdAt: stored.created_at,
  }),
} as const

/** A URL to which an app's events are delivered. Both secrets are encrypted. */
type StoredSubscription = Selectable<Schema['event_subscriptions']>

/** A subscription of the app; undefined = the app has no such one. */
export function findSubscription(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredSubscription | undefined> {
  return findReceiver(db, 'event_subscriptions', appId, id)
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

export async function disableSubscription(db: Database, id: string, reason: string): Promise<void> {
  await db
    .updateTable('event_subscriptions')
    .set({ active: false, disabled_reason: reason, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .execute()
}

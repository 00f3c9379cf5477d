import { type Selectable, sql } from 'kysely'
import type { Database } from '../database.js'
import type { Schema } from '../schema.js'
import {
  deleteReceiver,
  insertReceiver,
  replaceReceiverSecret,
  updateReceiver,
} from './receivers.js'

/** A URL to which an app's events are delivered. Both secrets are encrypted. */
export type StoredSubscription = Selectable<Schema['event_subscriptions']>

export type NewSubscription = Pick<StoredSubscription, 'app_id' | 'url' | 'event_types' | 'secret'>

/** Stores a subscription, unless the app has `limit` of them already: then undefined. */
export function insertSubscription(
  db: Database,
  subscription: NewSubscription,
  limit: number,
): Promise<StoredSubscription | undefined> {
  return insertReceiver(db, 'event_subscriptions', subscription.app_id, limit, (trx) =>
    trx
      .insertInto('event_subscriptions')
      .values(subscription)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

export function listSubscriptions(db: Database, appId: string): Promise<StoredSubscription[]> {
  return db
    .selectFrom('event_subscriptions')
    .selectAll()
    .where('app_id', '=', appId)
    .orderBy('created_at')
    .execute()
}

/** A subscription of the app; undefined = the app has no such one. The same holds for the functions below. */
export function findSubscription(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredSubscription | undefined> {
  return db
    .selectFrom('event_subscriptions')
    .selectAll()
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Changes a subscription; one that is made active again begins with a clean record. */
export function updateSubscription(
  db: Database,
  appId: string,
  id: string,
  changes: Partial<Pick<StoredSubscription, 'event_types' | 'active'>>,
): Promise<StoredSubscription | undefined> {
  const cleared = changes.active === true ? { failing_since: null, disabled_reason: null } : {}
  return updateReceiver(db, 'event_subscriptions', appId, id, { ...changes, ...cleared })
}

/** Replaces the secret. The old one goes on signing beside the new one until `overlapUntil`. */
export function replaceSubscriptionSecret(
  db: Database,
  appId: string,
  id: string,
  secret: Buffer,
  overlapUntil: Date,
): Promise<StoredSubscription | undefined> {
  return replaceReceiverSecret(db, 'event_subscriptions', appId, id, secret, overlapUntil)
}

/** Deletes a subscription with its undelivered events. */
export function deleteSubscription(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredSubscription | undefined> {
  return deleteReceiver(db, 'event_subscriptions', appId, id)
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

import type { Selectable } from 'kysely'
import type { Database } from '../database.js'
import type { Schema } from '../schema.js'
import {
  deleteReceiver,
  insertReceiver,
  replaceReceiverSecret,
  updateReceiver,
} from './receivers.js'

/** A registered webhook. Both secrets are encrypted. */
export type StoredWebhook = Selectable<Schema['webhooks']>

export type WebhookColumns = Pick<StoredWebhook, 'payload' | 'on_failure' | 'deadline_ms'>

export type NewWebhook = Pick<StoredWebhook, 'app_id' | 'url' | 'request_type' | 'secret'> &
  Partial<WebhookColumns>

/**
 * Stores a webhook, unless the app has `limit` of them already: then undefined. The app's row is
 * locked, so that creations at the same time are counted one after the other.
 */
export function insertWebhook(
  db: Database,
  webhook: NewWebhook,
  limit: number,
): Promise<StoredWebhook | undefined> {
  return insertReceiver(db, 'webhooks', webhook.app_id, limit, (trx) =>
    trx.insertInto('webhooks').values(webhook).returningAll().executeTakeFirstOrThrow(),
  )
}

export function listWebhooks(db: Database, appId: string): Promise<StoredWebhook[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('app_id', '=', appId)
    .orderBy('created_at')
    .execute()
}

export function listActiveWebhooks(db: Database, appId: string): Promise<StoredWebhook[]> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('app_id', '=', appId)
    .where('active', '=', true)
    .orderBy('created_at')
    .execute()
}

/** A webhook of the app; undefined = the app has no such one. The same holds for the functions below. */
export function findWebhook(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredWebhook | undefined> {
  return db
    .selectFrom('webhooks')
    .selectAll()
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .executeTakeFirst()
}

export function updateWebhook(
  db: Database,
  appId: string,
  id: string,
  changes: Partial<WebhookColumns & Pick<StoredWebhook, 'active'>>,
): Promise<StoredWebhook | undefined> {
  return updateReceiver(db, 'webhooks', appId, id, changes)
}

/** Replaces the secret. The old one goes on signing beside the new one until `overlapUntil`. */
export function replaceWebhookSecret(
  db: Database,
  appId: string,
  id: string,
  secret: Buffer,
  overlapUntil: Date,
): Promise<StoredWebhook | undefined> {
  return replaceReceiverSecret(db, 'webhooks', appId, id, secret, overlapUntil)
}

export function deleteWebhook(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredWebhook | undefined> {
  return deleteReceiver(db, 'webhooks', appId, id)
}

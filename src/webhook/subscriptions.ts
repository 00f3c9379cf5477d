import type { EventType } from '../base/vocabulary.js'
import { InvalidParamsError } from '../errors/requestErrors.js'
import { SubscriptionLimitError } from '../errors/webhookErrors.js'
import type { Database, Transaction } from '../store/database.js'
import { findAppOwner } from '../store/tenants/apps.js'
import { type AuditChange, audited } from '../store/tenants/audit.js'
import { type Replay, replayDeliveries } from '../store/tenants/deliveries.js'
import {
  deleteSubscription,
  findSubscription,
  insertSubscription,
  listSubscriptions,
  replaceSubscriptionSecret,
  type StoredSubscription,
  updateSubscription,
} from '../store/tenants/subscriptions.js'
import { isUuid } from '../store/uuid.js'
import { encryptSecret } from '../tenancy/secrets.js'
import { requireCallable, type WebhooksContext } from './manage.js'
import { OVERLAP } from './signing/secrets.js'
import { newSecret, SECRET_PURPOSE } from './signing/signature.js'

/** A URL that receives an app's events. */
export type Subscription = {
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
export type Subscriptions = {
  /**
   * Creates one. Throws InvalidParamsError for a URL that would never be called, and
   * SubscriptionLimitError.
   */
  create(
    appId: string,
    subscription: Pick<Subscription, 'url' | 'eventTypes'>,
  ): Promise<{ readonly subscription: Subscription; readonly signingSecret: string }>
  list(appId: string): Promise<readonly Subscription[]>
  get(appId: string, id: string): Promise<Subscription | undefined>
  change(
    appId: string,
    id: string,
    changes: Partial<Pick<Subscription, 'eventTypes' | 'active'>>,
  ): Promise<Subscription | undefined>
  /** Makes a new secret; the old one signs too for 24 h. */
  rotateSecret(appId: string, id: string): Promise<string | undefined>
  delete(appId: string, id: string): Promise<boolean>
  /** Delivers stored events again; returns their number. */
  replay(appId: string, id: string, choice: Replay): Promise<number | undefined>
}

const DEFAULT_MAX_PER_APP = 5

export function createSubscriptions(context: WebhooksContext): Subscriptions {
  const { database, masterKey, guard, maxPerApp = DEFAULT_MAX_PER_APP } = context

  const change = <Result>(run: (change: AuditChange) => Promise<Result>): Promise<Result> =>
    audited(database, context.actor, run)

  const find = async (db: Database, appId: string, id: string) =>
    isUuid(id) ? findSubscription(db, appId, id) : undefined

  return {
    async create(appId, { url, eventTypes }) {
      requireCallable('url', url, guard)
      const signingSecret = newSecret()
      const row = {
        app_id: appId,
        url,
        event_types: requireTypes(eventTypes),
        secret: encryptSecret(masterKey, SECRET_PURPOSE, signingSecret),
      }
      return change(async ({ trx, record }) => {
        const stored = await insertSubscription(trx, row, maxPerApp)
        if (stored === undefined) throw new SubscriptionLimitError(maxPerApp)
        const subscription = toSubscription(stored)
        const entry = { ...(await entryOf(trx, stored)), after: subscription }
        await record({ action: 'subscription.create', ...entry })
        return { subscription, signingSecret }
      })
    },
    async list(appId) {
      return (await listSubscriptions(database, appId)).map(toSubscription)
    },
    async get(appId, id) {
      const stored = await find(database, appId, id)
      return stored && toSubscription(stored)
    },
    change: (appId, id, { eventTypes, active }) =>
      change(async ({ trx, record }) => {
        const before = await find(trx, appId, id)
        if (before === undefined) return undefined
        const stored = await updateSubscription(trx, appId, id, {
          ...(eventTypes !== undefined && { event_types: requireTypes(eventTypes) }),
          ...(active !== undefined && { active }),
        })
        if (stored === undefined) return undefined
        const after = toSubscription(stored)
        const entry = { ...(await entryOf(trx, stored)), before: toSubscription(before), after }
        await record({ action: 'subscription.update', ...entry })
        return after
      }),
    rotateSecret: (appId, id) =>
      change(async ({ trx, record }) => {
        const before = await find(trx, appId, id)
        if (before === undefined) return undefined
        const secret = newSecret()
        const sealed = encryptSecret(masterKey, SECRET_PURPOSE, secret)
        await replaceSubscriptionSecret(trx, appId, id, sealed, new Date(Date.now() + OVERLAP))
        await record({ action: 'subscription.rotate_secret', ...(await entryOf(trx, before)) })
        return secret
      }),
    delete: (appId, id) =>
      change(async ({ trx, record }) => {
        if (!isUuid(id)) return false
        const stored = await deleteSubscription(trx, appId, id)
        if (stored === undefined) return false
        const entry = { ...(await entryOf(trx, stored)), before: toSubscription(stored) }
        await record({ action: 'subscription.delete', ...entry })
        return true
      }),
    replay: (appId, id, choice) =>
      change(async ({ trx, record }) => {
        const stored = await find(trx, appId, id)
        if (stored === undefined) return undefined
        const count = await replayDeliveries(trx, id, choice)
        const entry = { ...(await entryOf(trx, stored)), after: { ...choice, count } }
        await record({ action: 'subscription.replay', ...entry })
        return count
      }),
  }
}

function requireTypes(eventTypes: readonly EventType[]): string[] {
  if (eventTypes.length === 0) throw new InvalidParamsError('eventTypes', 'must not be empty.')
  return [...new Set(eventTypes)]
}

async function entryOf(trx: Transaction, { id, app_id }: StoredSubscription) {
  return {
    objectId: id,
    appId: app_id,
    accountId: (await findAppOwner(trx, app_id))?.accountId ?? null,
  }
}

function toSubscription(stored: StoredSubscription): Subscription {
  return {
    id: stored.id,
    url: stored.url,
    eventTypes: stored.event_types as EventType[],
    active: stored.active,
    disabledReason: stored.disabled_reason,
    failingSince: stored.failing_since,
    createdAt: stored.created_at,
  }
}

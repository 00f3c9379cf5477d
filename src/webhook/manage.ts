import { InvalidParamsError } from '../errors/requestErrors.js'
import { WebhookLimitError } from '../errors/webhookErrors.js'
import type { NetworkGuard } from '../outbound/networkGuard.js'
import type { Database, Transaction } from '../store/database.js'
import { type AppOwner, findAppOwner } from '../store/tenants/apps.js'
import { type Actor, type AuditChange, audited } from '../store/tenants/audit.js'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  replaceWebhookSecret,
  type StoredWebhook,
  updateWebhook,
} from '../store/tenants/webhooks.js'
import { isUuid } from '../store/uuid.js'
import { decryptSecret, encryptSecret } from '../tenancy/secrets.js'
import { OVERLAP } from './signing/secrets.js'
import { newSecret, SECRET_PURPOSE } from './signing/signature.js'
import { webhookDeadline } from './webhookDeadline.js'

/** The HTTP method by which a webhook is called. */
export type RequestType = 'GET' | 'POST'

/** The settings of a webhook that its owner may change. */
export type WebhookSettings = {
  /** `extended` binds the approval to the operation; only by POST. */
  readonly payload: 'plain' | 'extended'
  /** The meaning of a call without an answer. */
  readonly onFailure: 'deny' | 'approve'
  /** Milliseconds within the bounds of `webhookDeadline`. */
  readonly deadlineMs: number
}

export type Webhook = WebhookSettings & {
  readonly webhookId: string
  readonly webhookUrl: string
  readonly requestType: RequestType
  readonly active: boolean
}

export type WebhooksContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly guard: NetworkGuard
  /** The actor that the audit log names. */
  readonly actor: Actor
  readonly maxPerApp?: number
}

/** The webhooks of one app; to any other app they do not exist. */
export type Webhooks = {
  /**
   * Registers a webhook, active at once. Throws InvalidParamsError for a URL that would never be
   * called, and WebhookLimitError.
   */
  create(
    appId: string,
    webhook: Pick<Webhook, 'webhookUrl' | 'requestType'> & Partial<WebhookSettings>,
  ): Promise<Webhook>
  list(appId: string): Promise<readonly Webhook[]>
  /** undefined = there is no such webhook. */
  get(appId: string, webhookId: string): Promise<Webhook | undefined>
  /**
   * The secret `whsec_…` by which the receiver verifies our calls; undefined = there is no such
   * webhook. The API must never answer it, because its callers need not own the endpoint.
   */
  signingSecret(appId: string, webhookId: string): Promise<string | undefined>
  /** Makes a new secret; the old one signs too for 24 h. undefined = there is no such webhook. */
  rotateSecret(appId: string, webhookId: string): Promise<string | undefined>
  /** Changes settings, or whether it is active; undefined = there is no such webhook. */
  change(
    appId: string,
    webhookId: string,
    changes: Partial<WebhookSettings & Pick<Webhook, 'active'>>,
  ): Promise<Webhook | undefined>
  /** Sets whether it is active; false = there is no such webhook. */
  update(appId: string, webhookId: string, active: boolean): Promise<boolean>
  /** Deletes a webhook; false = there is no such webhook. */
  delete(appId: string, webhookId: string): Promise<boolean>
}

const MAX_URL_LENGTH = 2048
const DEFAULT_MAX_PER_APP = 5

export function createWebhooks(context: WebhooksContext): Webhooks {
  const { database, masterKey, guard, maxPerApp = DEFAULT_MAX_PER_APP } = context

  const change = <Result>(run: (change: AuditChange) => Promise<Result>): Promise<Result> =>
    audited(database, context.actor, run)

  const find = async (db: Database, appId: string, webhookId: string) =>
    isUuid(webhookId) ? findWebhook(db, appId, webhookId) : undefined

  const webhooks: Webhooks = {
    async create(appId, { webhookUrl, requestType, ...settings }) {
      checkUrl(webhookUrl, requestType, guard)
      checkPayload(requestType, settings.payload)
      return change(async ({ trx, record }) => {
        const row = {
          app_id: appId,
          url: webhookUrl,
          request_type: requestType,
          secret: encryptSecret(masterKey, SECRET_PURPOSE, newSecret()),
          ...toColumns({ deadlineMs: webhookDeadline.standard, ...settings }),
        }
        const stored = await insertWebhook(trx, row, maxPerApp)
        if (stored === undefined) throw new WebhookLimitError(maxPerApp)
        const after = toWebhook(stored)
        await record({ action: 'webhook.create', ...(await entryOf(trx, stored)), after })
        return after
      })
    },
    async list(appId) {
      return (await listWebhooks(database, appId)).map(toWebhook)
    },
    async get(appId, webhookId) {
      const stored = await find(database, appId, webhookId)
      return stored && toWebhook(stored)
    },
    async signingSecret(appId, webhookId) {
      const stored = await find(database, appId, webhookId)
      return stored && decryptSecret(masterKey, SECRET_PURPOSE, stored.secret)
    },
    rotateSecret: (appId, webhookId) =>
      change(async ({ trx, record }) => {
        const before = await find(trx, appId, webhookId)
        if (before === undefined) return undefined
        const secret = newSecret()
        const until = new Date(Date.now() + OVERLAP)
        const sealed = encryptSecret(masterKey, SECRET_PURPOSE, secret)
        await replaceWebhookSecret(trx, appId, webhookId, sealed, until)
        await record({ action: 'webhook.rotate_secret', ...(await entryOf(trx, before)) })
        return secret
      }),
    change: (appId, webhookId, changes) =>
      change(async ({ trx, record }) => {
        const before = await find(trx, appId, webhookId)
        if (before === undefined) return undefined
        checkPayload(before.request_type, changes.payload)
        const { active } = changes
        const columns = { ...toColumns(changes), ...(active !== undefined && { active }) }
        const stored = await updateWebhook(trx, appId, webhookId, columns)
        if (stored === undefined) return undefined
        const after = toWebhook(stored)
        const entry = { ...(await entryOf(trx, stored)), before: toWebhook(before), after }
        await record({ action: 'webhook.update', ...entry })
        return after
      }),
    async update(appId, webhookId, active) {
      return (await webhooks.change(appId, webhookId, { active })) !== undefined
    },
    delete: (appId, webhookId) =>
      change(async ({ trx, record }) => {
        if (!isUuid(webhookId)) return false
        const stored = await deleteWebhook(trx, appId, webhookId)
        if (stored === undefined) return false
        const entry = { ...(await entryOf(trx, stored)), before: toWebhook(stored) }
        await record({ action: 'webhook.delete', ...entry })
        return true
      }),
  }
  return webhooks
}

async function entryOf(trx: Transaction, { id, app_id }: StoredWebhook) {
  const owner: AppOwner | undefined = await findAppOwner(trx, app_id)
  return { objectId: id, appId: app_id, accountId: owner?.accountId ?? null }
}

function toColumns({ payload, onFailure, deadlineMs }: Partial<WebhookSettings>) {
  return {
    ...(payload !== undefined && { payload }),
    ...(onFailure !== undefined && { on_failure: onFailure }),
    ...(deadlineMs !== undefined && { deadline_ms: deadlineMs }),
  }
}

function checkPayload(
  requestType: RequestType,
  payload: WebhookSettings['payload'] | undefined,
): void {
  if (payload === 'extended' && requestType === 'GET')
    throw new InvalidParamsError('payload', 'extended needs requestType POST.')
}

function checkUrl(text: string, requestType: RequestType, guard: NetworkGuard): void {
  requireCallable('webhookUrl', text, guard)
  if (requestType === 'GET' && new URL(text).searchParams.has('data')) {
    throw new InvalidParamsError(
      'webhookUrl',
      'must not use the query parameter data, which carries webhookData in a call by GET.',
    )
  }
}

/**
 * Requires a URL that can be called. Throws InvalidParamsError, which names `field`, for any other.
 */
export function requireCallable(field: string, text: string, guard: NetworkGuard): void {
  const refuse = (reason: string): never => {
    throw new InvalidParamsError(field, reason)
  }
  if (/[\s\p{Cc}\p{Cs}]/u.test(text)) refuse('must not hold blanks or control characters.')
  if (text.length > MAX_URL_LENGTH) refuse(`is longer than ${MAX_URL_LENGTH} characters.`)
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL.')
  const refusal = guard.refuseUrl(url)
  if (refusal !== undefined) refuse(refusal)
}

function toWebhook(stored: StoredWebhook): Webhook {
  return {
    webhookId: stored.id,
    webhookUrl: stored.url,
    requestType: stored.request_type,
    active: stored.active,
    payload: stored.payload,
    onFailure: stored.on_failure,
    deadlineMs: stored.deadline_ms,
  }
}

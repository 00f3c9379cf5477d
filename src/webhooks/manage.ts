import type { Selectable } from 'kysely'
import { InvalidParamsError } from '../base/errors/requestErrors.js'
import type { NetworkGuard } from '../base/outbound/networkGuard.js'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import {
  createReceivers,
  findReceiver,
  listReceivers,
  requireCallable,
  type WebhooksContext,
} from './receivers.js'
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

/** The webhooks of one app; to any other app they do not exist. */
export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks(context: WebhooksContext) {
  const {
    create,
    update,
    list,
    get,
    signingSecret,
    rotateSecret,
    delete: remove,
  } = createReceivers(webhookKind, context)
  /** Changes settings, or whether it is active. */
  const change = (
    appId: string,
    webhookId: string,
    { active, ...settings }: Partial<WebhookSettings & Pick<Webhook, 'active'>>,
  ): Promise<Webhook | undefined> =>
    update(appId, webhookId, ({ request_type }) => {
      checkPayload(request_type, settings.payload)
      return { ...toColumns(settings), ...(active !== undefined && { active }) }
    })
  return {
    /**
     * Registers a webhook, active at once. Throws InvalidParamsError for a URL that would never be
     * called, and TenantLimitError.
     */
    async create(
      appId: string,
      webhook: Pick<Webhook, 'webhookUrl' | 'requestType'> & Partial<WebhookSettings>,
    ): Promise<Webhook> {
      const { webhookUrl, requestType, ...settings } = webhook
      checkUrl(webhookUrl, requestType, context.guard)
      checkPayload(requestType, settings.payload)
      const { after } = await create(appId, {
        url: webhookUrl,
        request_type: requestType,
        ...toColumns({ deadlineMs: webhookDeadline.standard, ...settings }),
      })
      return after
    },
    list,
    get,
    /** The API must never answer it, because its callers need not own the endpoint. */
    signingSecret,
    rotateSecret,
    change,
    /** Sets whether it is active; false = there is no such webhook. */
    async update(appId: string, webhookId: string, active: boolean): Promise<boolean> {
      return (await change(appId, webhookId, { active })) !== undefined
    },
    delete: remove,
  }
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

const webhookKind = {
  table: 'webhooks',
  name: 'webhook',
  view: (stored: StoredWebhook): Webhook => ({
    webhookId: stored.id,
    webhookUrl: stored.url,
    requestType: stored.request_type,
    active: stored.active,
    payload: stored.payload,
    onFailure: stored.on_failure,
    deadlineMs: stored.deadline_ms,
  }),
} as const

/** A registered webhook. Both secrets are encrypted. */
export type StoredWebhook = Selectable<Schema['webhooks']>

export async function listActiveWebhooks(db: Database, appId: string): Promise<StoredWebhook[]> {
  return (await listReceivers(db, 'webhooks', appId)).filter(({ active }) => active)
}

/** A webhook of the app; undefined = the app has no such one. */
export function findWebhook(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredWebhook | undefined> {
  return findReceiver(db, 'webhooks', appId, id)
}

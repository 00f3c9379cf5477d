import { InvalidParamsError } from '../errors/requestErrors.js'
import { WebhookLimitError } from '../errors/webhookErrors.js'
import type { Database } from '../store/database.js'
import { isUuid } from '../store/uuid.js'
import {
  deleteWebhook,
  findWebhook,
  insertWebhook,
  listWebhooks,
  type StoredWebhook,
  updateWebhook,
} from '../store/webhooks.js'
import { decryptSecret, encryptSecret } from '../tenancy/secrets.js'
import type { NetworkGuard } from './networkGuard.js'
import { newSecret, secretPurpose } from './signature.js'

export type RequestType = 'GET' | 'POST'

export type Webhook = {
  readonly webhookId: string
  readonly webhookUrl: string
  readonly requestType: RequestType
  readonly active: boolean
}

export type WebhooksContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly guard: NetworkGuard
  readonly maxPerApp?: number
}

/** The webhooks of one app; to any other app they do not exist. */
export type Webhooks = {
  /**
   * Registers a webhook, active at once. Throws InvalidParamsError for a URL that would never be
   * called, WebhookLimitError.
   */
  create(appId: string, webhook: Pick<Webhook, 'webhookUrl' | 'requestType'>): Promise<Webhook>
  list(appId: string): Promise<readonly Webhook[]>
  /** undefined = there is no such webhook. */
  get(appId: string, webhookId: string): Promise<Webhook | undefined>
  /**
   * `whsec_…`, by which the receiver verifies what we send; undefined = there is no such webhook.
   * Never for answers of the API, whose callers need not own the endpoint.
   */
  signingSecret(appId: string, webhookId: string): Promise<string | undefined>
  /** false = there is no such webhook. */
  update(appId: string, webhookId: string, active: boolean): Promise<boolean>
  /** false = there is no such webhook. */
  delete(appId: string, webhookId: string): Promise<boolean>
}

const maxUrlLength = 2048
const defaultMaxPerApp = 5

export const createWebhooks = ({
  database,
  masterKey,
  guard,
  maxPerApp = defaultMaxPerApp,
}: WebhooksContext): Webhooks => ({
  async create(appId, { webhookUrl, requestType }) {
    checkUrl(webhookUrl, requestType, guard)
    const row = {
      app_id: appId,
      url: webhookUrl,
      request_type: requestType,
      secret: encryptSecret(masterKey, secretPurpose, newSecret()),
    }
    const stored = await insertWebhook(database, row, maxPerApp)
    if (stored === undefined) throw new WebhookLimitError(maxPerApp)
    return toWebhook(stored)
  },
  async list(appId) {
    return (await listWebhooks(database, appId)).map(toWebhook)
  },
  async get(appId, webhookId) {
    const stored = isUuid(webhookId) ? await findWebhook(database, appId, webhookId) : undefined
    return stored && toWebhook(stored)
  },
  async signingSecret(appId, webhookId) {
    const stored = isUuid(webhookId) ? await findWebhook(database, appId, webhookId) : undefined
    return stored && decryptSecret(masterKey, secretPurpose, stored.secret)
  },
  async update(appId, webhookId, active) {
    return (
      isUuid(webhookId) && (await updateWebhook(database, appId, webhookId, active)) !== undefined
    )
  },
  async delete(appId, webhookId) {
    return isUuid(webhookId) && (await deleteWebhook(database, appId, webhookId)) !== undefined
  },
})

const checkUrl = (text: string, requestType: RequestType, guard: NetworkGuard): void => {
  const refuse = (reason: string): never => {
    throw new InvalidParamsError('webhookUrl', reason)
  }
  if (text.length > maxUrlLength) refuse(`is longer than ${maxUrlLength} characters.`)
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL.')
  const refusal = guard.refuseUrl(url)
  if (refusal !== undefined) refuse(refusal)
  if (requestType === 'GET' && url.searchParams.has('data')) {
    refuse('must not use the query parameter data, which carries webhookData in a call by GET.')
  }
}

const toWebhook = (stored: StoredWebhook): Webhook => ({
  webhookId: stored.id,
  webhookUrl: stored.url,
  requestType: stored.request_type,
  active: stored.active,
})

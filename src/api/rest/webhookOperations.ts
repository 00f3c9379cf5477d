import type { Role } from '../../base/vocabulary.js'
import { InvalidFieldError, WebhookNotFoundError } from '../../errors/restErrors.js'
import { type Members, member } from '../dialects/decode/members.js'
import type { RegisteredWebhook, WebhookServices } from '../services.js'

/** The answer of the interface beside its status code. */
export type WebhookAnswer = { readonly message: string; readonly data?: unknown }

export type WebhookRequest = {
  readonly appId: string
  /** `{}` when none was sent. */
  readonly body: Members
  readonly query: Members
}

type WebhookOperation = {
  /** The interface words it differently per operation. */
  readonly missingCredentials: string
  /** The role that the token needs. */
  readonly role: Role
  readonly run: (webhooks: WebhookServices, request: WebhookRequest) => Promise<WebhookAnswer>
}

const TOKEN_AND_KEY_REQUIRED = 'Auth token and API key is required in the headers'

const create: WebhookOperation = {
  missingCredentials: TOKEN_AND_KEY_REQUIRED,
  role: 'developer',
  async run(webhooks, { appId, body }) {
    const webhookUrl = decodeUrl(body, 'webhookUrl')
    const requestType = member(body, 'requestType')
    if (requestType !== 'GET' && requestType !== 'POST')
      throw new InvalidFieldError('requestType', 'must be "GET" or "POST"')
    const webhook = await webhooks.create(appId, { webhookUrl, requestType })
    return { message: 'Webhook created', data: encodeWebhook(webhook) }
  },
}

/** The answer is a list, so a webhook that is not there is an empty one, not a failure. */
const read: WebhookOperation = {
  missingCredentials: 'Auth token is required in the headers',
  role: 'viewer',
  async run(webhooks, { appId, body, query }) {
    const webhookId = decodeId(query)
    const webhookUrl = member(body, 'webhookUrl')
    if (webhookUrl !== undefined && typeof webhookUrl !== 'string')
      throw new InvalidFieldError('webhookUrl', 'must be a string')
    const webhook = await webhooks.get(appId, webhookId)
    return {
      message: 'Webhook list fetched',
      data: webhook === undefined ? [] : [encodeWebhook(webhook)],
    }
  },
}

const update: WebhookOperation = {
  missingCredentials: TOKEN_AND_KEY_REQUIRED,
  role: 'developer',
  async run(webhooks, { appId, body }) {
    const webhookId = decodeId(body)
    const active = member(body, 'active')
    if (typeof active !== 'boolean')
      throw new InvalidFieldError('active', 'must be a boolean value')
    if (!(await webhooks.update(appId, webhookId, active))) throw new WebhookNotFoundError()
    return { message: 'Webhook updated' }
  },
}

const remove: WebhookOperation = {
  missingCredentials: TOKEN_AND_KEY_REQUIRED,
  role: 'developer',
  async run(webhooks, { appId, body }) {
    const webhookId = decodeId(body)
    if (!(await webhooks.delete(appId, webhookId))) throw new WebhookNotFoundError()
    return { message: 'Webhook deleted' }
  },
}

/** The four operations of the interface, by HTTP method. */
export const webhookOperations: ReadonlyMap<string, WebhookOperation> = new Map([
  ['POST', create],
  ['GET', read],
  ['PATCH', update],
  ['DELETE', remove],
])

function encodeWebhook({
  webhookId,
  webhookUrl,
  requestType,
}: RegisteredWebhook): RegisteredWebhook {
  return {
    webhookId,
    webhookUrl,
    requestType,
  }
}

const MAX_URL_LENGTH = 2_048

/** Kept as given. Control characters and half surrogates cannot be stored, blanks are mistakes. */
export function decodeUrl(body: Members, field: string): string {
  const url = member(body, field)
  if (typeof url !== 'string') throw new InvalidFieldError(field, 'must be a string')
  if (url.length > MAX_URL_LENGTH)
    throw new InvalidFieldError(field, `must not exceed ${MAX_URL_LENGTH} characters`)
  if (/[\s\p{Cc}\p{Cs}]/u.test(url) || !/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new InvalidFieldError(field, 'must be a valid http or https URL')
  return url
}

function decodeId(members: Members): string {
  const webhookId = member(members, 'webhookId')
  if (typeof webhookId !== 'string') throw new InvalidFieldError('webhookId', 'must be a string')
  return webhookId
}

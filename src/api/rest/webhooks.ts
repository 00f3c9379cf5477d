import { z } from 'zod'
import {
  HttpMethodNotAllowedError,
  InvalidFieldError,
  NotFoundError,
  UnauthorizedError,
} from '../../base/errors/restErrors.js'
import type { Role } from '../../base/vocabulary.js'
import { type Caller, isKey, requireRole, tokenActor } from '../caller.js'
import { type Members, member } from '../dialects/decode/values.js'
import type { Gate } from '../gate/createGate.js'
import { requirePlace } from '../gate/keyRestrictions.js'
import type { RegisteredWebhook, Services, WebhookServices } from '../services.js'

/** The body of the answer, without its status code. */
type WebhookAnswer = { readonly message: string; readonly data?: unknown }

type WebhookRequest = {
  readonly appId: string
  /** `{}` when none was sent. */
  readonly body: Members
  readonly query: Members
}

/** One operation of the webhook API: what its document says of it, and what it does. */
export type WebhookOperation = {
  readonly summary: string
  /** The role that the token needs. */
  readonly role: Role
  /** The interface words it differently per operation. */
  readonly missingCredentials: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The message of the answer. */
  readonly message: string
  /** Its member `data`. */
  readonly data?: z.ZodType
  readonly run: (webhooks: WebhookServices, request: WebhookRequest) => Promise<unknown>
}

const TOKEN_AND_KEY_REQUIRED = 'Auth token and API key is required in the headers'

/** Kept as given: no blanks, no control characters, no half surrogates; whatever `URL` cannot read is refused too. */
const url = z
  .string()
  .max(2_048)
  .regex(/^[hH][tT][tT][pP][sS]?:\/\/[^\s\p{Cc}\p{Cs}]+$/u)
const requestTypes = z.enum(['GET', 'POST'])
const webhook = z.strictObject({ webhookId: z.uuid(), webhookUrl: url, requestType: requestTypes })

const create: WebhookOperation = {
  summary: 'Registers a webhook, which is active at once; five an app.',
  role: 'developer',
  missingCredentials: TOKEN_AND_KEY_REQUIRED,
  body: z.looseObject({ webhookUrl: url, requestType: requestTypes }),
  message: 'Webhook created',
  data: webhook,
  async run(webhooks, { appId, body }) {
    const webhookUrl = decodeUrl(body, 'webhookUrl')
    const requestType = member(body, 'requestType')
    if (requestType !== 'GET' && requestType !== 'POST')
      throw new InvalidFieldError('requestType', 'must be "GET" or "POST"')
    return encodeWebhook(await webhooks.create(appId, { webhookUrl, requestType }))
  },
}

/** The answer is a list, so a webhook that is not there is an empty one, not a failure. */
const read: WebhookOperation = {
  summary: 'A list of the webhook of that id; empty when there is none.',
  role: 'viewer',
  missingCredentials: 'Auth token is required in the headers',
  query: z.looseObject({ webhookId: z.string() }),
  message: 'Webhook list fetched',
  data: z.array(webhook).max(1),
  async run(webhooks, { appId, body, query }) {
    const webhookId = decodeId(query)
    const webhookUrl = member(body, 'webhookUrl')
    if (webhookUrl !== undefined && typeof webhookUrl !== 'string')
      throw new InvalidFieldError('webhookUrl', 'must be a string')
    const found = await webhooks.get(appId, webhookId)
    return found === undefined ? [] : [encodeWebhook(found)]
  },
}

const update: WebhookOperation = {
  summary: 'Switches a webhook on or off.',
  role: 'developer',
  missingCredentials: TOKEN_AND_KEY_REQUIRED,
  body: z.looseObject({ webhookId: z.string(), active: z.boolean() }),
  message: 'Webhook updated',
  async run(webhooks, { appId, body }) {
    const webhookId = decodeId(body)
    const active = member(body, 'active')
    if (typeof active !== 'boolean')
      throw new InvalidFieldError('active', 'must be a boolean value')
    if (!(await webhooks.update(appId, webhookId, active))) throw new NotFoundError('Webhook')
  },
}

const remove: WebhookOperation = {
  summary: 'Ends a webhook.',
  role: 'developer',
  missingCredentials: TOKEN_AND_KEY_REQUIRED,
  body: z.looseObject({ webhookId: z.string() }),
  message: 'Webhook deleted',
  async run(webhooks, { appId, body }) {
    if (!(await webhooks.delete(appId, decodeId(body)))) throw new NotFoundError('Webhook')
  },
}

/** The four operations of the interface, by HTTP method. */
export const webhookOperations: ReadonlyMap<string, WebhookOperation> = new Map([
  ['POST', create],
  ['GET', read],
  ['PATCH', update],
  ['DELETE', remove],
])

type WebhookHttpRequest = {
  readonly method: string
  readonly authToken: string | undefined
  readonly apiKey: string | undefined
  readonly query: Members
  readonly caller: Caller
  /** Parsed JSON, undefined when there was no body. Read only for callers that are known. */
  readonly readBody: () => Promise<unknown>
}

type WebhookContext = Pick<Services, 'webhooks' | 'authenticateKey' | 'authenticateToken'>

/** One request to the webhook API. Throws errors whose status and message are the answer. */
export async function answerWebhook(
  request: WebhookHttpRequest,
  services: WebhookContext,
  gate: Gate,
): Promise<WebhookAnswer> {
  const { caller, authToken, apiKey, query } = request
  gate.enter(caller.ip)
  const operation = webhookOperations.get(request.method)
  if (operation === undefined) throw new HttpMethodNotAllowedError([...webhookOperations.keys()])
  const { message, role, missingCredentials, run } = operation
  if (!authToken || !apiKey) throw new UnauthorizedError(missingCredentials)
  const credentials = { authToken, apiKey, caller }
  const { appId, actor } = await authenticate(credentials, role, services, gate)
  const body = (await request.readBody()) ?? {}
  if (typeof body !== 'object' || Array.isArray(body))
    throw new InvalidFieldError('The body', 'must be a JSON object')
  const data = await run(services.webhooks(actor), { appId, body: body as Members, query })
  return { message, ...(data !== undefined && { data }) }
}

/** The app of the key, if it belongs to the account of the token, which needs the role. */
async function authenticate(
  given: { readonly authToken: string; readonly apiKey: string; readonly caller: Caller },
  role: Role,
  { authenticateKey, authenticateToken }: WebhookContext,
  gate: Gate,
) {
  const { authToken: token, apiKey: key, caller } = given
  gate.tryCredential(caller.ip, token)
  const [account, app] = await Promise.all([
    isKey(token) ? authenticateToken(token) : undefined,
    isKey(key) ? authenticateKey(key) : undefined,
  ])
  if (account === undefined || app === undefined || account.accountId !== app.accountId) {
    gate.credentialWasWrong(caller.ip)
    throw new UnauthorizedError(
      'Unknown auth token or API key, or the key does not belong to the account of the token',
    )
  }
  gate.credentialWasRight(token)
  requirePlace(app, caller)
  requireRole(account.role, role)
  return { appId: app.appId, actor: tokenActor(account, token, caller) }
}

/** Without the settings that the interface does not know. */
function encodeWebhook({ webhookId, webhookUrl, requestType }: RegisteredWebhook) {
  return { webhookId, webhookUrl, requestType }
}

const MAX_URL_LENGTH = 2_048

/** Kept as given. Control characters and half surrogates cannot be stored, blanks are mistakes. */
function decodeUrl(body: Members, field: string): string {
  const given = member(body, field)
  if (typeof given !== 'string') throw new InvalidFieldError(field, 'must be a string')
  if (given.length > MAX_URL_LENGTH)
    throw new InvalidFieldError(field, `must not exceed ${MAX_URL_LENGTH} characters`)
  if (/[\s\p{Cc}\p{Cs}]/u.test(given) || !/^https?:\/\//i.test(given) || !URL.canParse(given))
    throw new InvalidFieldError(field, 'must be a valid http or https URL')
  return given
}

function decodeId(members: Members): string {
  const webhookId = member(members, 'webhookId')
  if (typeof webhookId !== 'string') throw new InvalidFieldError('webhookId', 'must be a string')
  return webhookId
}

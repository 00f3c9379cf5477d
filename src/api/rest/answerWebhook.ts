import type { Role } from '../../base/vocabulary.js'
import {
  HttpMethodNotAllowedError,
  InvalidFieldError,
  UnauthorizedError,
} from '../../errors/restErrors.js'
import type { Actor } from '../../store/tenants/audit.js'
import { type Caller, tokenActor } from '../caller.js'
import type { Members } from '../dialects/decode/members.js'
import type { Gate } from '../gate/createGate.js'
import { requirePlace } from '../gate/keyRestrictions.js'
import { isKey } from '../isKey.js'
import { requireRole } from '../requireRole.js'
import type { KeyIdentity, Services } from '../services.js'
import { type WebhookAnswer, webhookOperations } from './webhookOperations.js'

export type WebhookHttpRequest = {
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
  const { caller } = request
  gate.enter(caller.ip)
  const operation = webhookOperations.get(request.method)
  if (operation === undefined) throw new HttpMethodNotAllowedError([...webhookOperations.keys()])
  const { authToken, apiKey, query } = request
  if (!authToken || !apiKey) throw new UnauthorizedError(operation.missingCredentials)
  const credentials = { authToken, apiKey, caller }
  const { appId, actor } = await authenticateWebhookCaller(
    credentials,
    operation.role,
    services,
    gate,
  )
  const body = (await request.readBody()) ?? {}
  if (typeof body !== 'object' || Array.isArray(body))
    throw new InvalidFieldError('The body', 'must be a JSON object')
  return operation.run(services.webhooks(actor), { appId, body: body as Members, query })
}

/** The key that a request names, and whoever named it. */
export type WebhookCaller = KeyIdentity & { readonly actor: Actor }

/** The app of the key, if it belongs to the account of the token, which needs the role. */
export async function authenticateWebhookCaller(
  given: { readonly authToken: string; readonly apiKey: string; readonly caller: Caller },
  role: Role,
  {
    authenticateKey,
    authenticateToken,
  }: Pick<WebhookContext, 'authenticateKey' | 'authenticateToken'>,
  gate: Gate,
): Promise<WebhookCaller> {
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
  return { ...app, actor: tokenActor(account, token, caller) }
}

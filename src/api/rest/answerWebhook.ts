import {
  HttpMethodNotAllowedError,
  InvalidFieldError,
  UnauthorizedError,
} from '../../errors/restErrors.js'
import { actorOf, type Caller } from '../caller.js'
import type { Members } from '../dialects/decode/members.js'
import type { Gate } from '../gate/createGate.js'
import { requirePlace } from '../gate/keyRestrictions.js'
import { isKey } from '../isKey.js'
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
  const { appId } = await authenticateWebhookCaller({ authToken, apiKey, caller }, services, gate)
  const body = (await request.readBody()) ?? {}
  if (typeof body !== 'object' || Array.isArray(body))
    throw new InvalidFieldError('The body', 'must be a JSON object')
  const webhooks = services.webhooks(actorOf('account', authToken, caller))
  return operation.run(webhooks, { appId, body: body as Members, query })
}

/** The app of the key, if it belongs to the account of the token. */
export async function authenticateWebhookCaller(
  given: { readonly authToken: string; readonly apiKey: string; readonly caller: Caller },
  {
    authenticateKey,
    authenticateToken,
  }: Pick<WebhookContext, 'authenticateKey' | 'authenticateToken'>,
  gate: Gate,
): Promise<KeyIdentity> {
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
  return app
}

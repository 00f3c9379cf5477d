import {
  HttpMethodNotAllowedError,
  InvalidFieldError,
  UnauthorizedError,
} from '../../errors/restErrors.js'
import type { Members } from '../dialects/decode/members.js'
import { isKey } from '../isKey.js'
import type { Services } from '../services.js'
import { type WebhookAnswer, webhookOperations } from './webhookOperations.js'

export type WebhookHttpRequest = {
  readonly method: string
  readonly authToken: string | undefined
  readonly apiKey: string | undefined
  readonly query: Members
  /** Parsed JSON, undefined when there was no body. Read only for callers that are known. */
  readonly readBody: () => Promise<unknown>
}

type WebhookContext = Pick<Services, 'webhooks' | 'authenticateKey' | 'authenticateToken'>

/** One request to the webhook API. Throws errors whose status and message are the answer. */
export const answerWebhook = async (
  request: WebhookHttpRequest,
  services: WebhookContext,
): Promise<WebhookAnswer> => {
  const operation = webhookOperations.get(request.method)
  if (operation === undefined) throw new HttpMethodNotAllowedError([...webhookOperations.keys()])
  const { authToken, apiKey, query } = request
  if (!authToken || !apiKey) throw new UnauthorizedError(operation.missingCredentials)
  const appId = await authenticate(authToken, apiKey, services)
  const body = (await request.readBody()) ?? {}
  if (typeof body !== 'object' || Array.isArray(body))
    throw new InvalidFieldError('The body', 'must be a JSON object')
  return operation.run(services.webhooks, { appId, body: body as Members, query })
}

/** The app of the key, if it belongs to the account of the token. */
const authenticate = async (
  token: string,
  key: string,
  { authenticateKey, authenticateToken }: WebhookContext,
): Promise<string> => {
  const [account, app] = await Promise.all([
    isKey(token) ? authenticateToken(token) : undefined,
    isKey(key) ? authenticateKey(key) : undefined,
  ])
  if (account === undefined || app === undefined || account.accountId !== app.accountId)
    throw new UnauthorizedError(
      'Unknown auth token or API key, or the key does not belong to the account of the token',
    )
  return app.appId
}

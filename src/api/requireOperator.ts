import type { Context } from 'hono'
import { UnauthorizedError } from '../errors/restErrors.js'
import { tokenOf } from './admin/authenticate.js'
import type { Env } from './createApp.js'
import type { RouteContext } from './routeContext.js'

/** Requires the operator's token. Throws UnauthorizedError, RateLimitError. */
export function requireOperator(
  c: Context<Env>,
  isOperator: (token: string) => boolean,
  { gate }: RouteContext,
): void {
  const { ip } = c.get('caller')
  gate.enter(ip)
  const token = tokenOf(c) ?? ''
  gate.tryCredential(ip, token)
  if (!isOperator(token)) {
    gate.credentialWasWrong(ip)
    throw new UnauthorizedError("The operator's token is required")
  }
  gate.credentialWasRight(token)
}

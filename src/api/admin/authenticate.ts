import type { Context } from 'hono'
import { ForbiddenError, UnauthorizedError } from '../../errors/restErrors.js'
import type { AdminContext } from '../adminContext.js'
import { actorOf } from '../caller.js'
import type { Env } from '../createApp.js'
import { isKey } from '../isKey.js'
import type { RouteContext } from '../routeContext.js'
import type { AdminCaller, Who } from './route.js'

/** The token of a request: `authToken: …` as in the webhook API, or `Authorization: Bearer …`. */
export function tokenOf(c: Context<Env>): string | undefined {
  return (
    c.req.header('authToken') ?? /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
  )
}

/** Throws UnauthorizedError, ForbiddenError, RateLimitError. */
export async function authenticateAdmin(
  c: Context<Env>,
  who: Who,
  context: AdminContext,
  { gate }: RouteContext,
): Promise<AdminCaller> {
  const { ip } = c.get('caller')
  gate.enter(ip)
  const token = tokenOf(c)
  if (token === undefined)
    throw new UnauthorizedError('Auth token is required in the header authToken or Authorization')
  gate.tryCredential(ip, token)
  if (context.isOperator(token)) {
    gate.credentialWasRight(token)
    if (who === 'account') throw new ForbiddenError("the token of an account, not the operator's")
    return { accountId: undefined, actor: actorOf('operator', token, c.get('caller')) }
  }
  const account = isKey(token) ? await context.authenticateToken(token) : undefined
  if (account === undefined) {
    gate.credentialWasWrong(ip)
    throw new UnauthorizedError('Unknown or revoked auth token')
  }
  gate.credentialWasRight(token)
  if (who === 'operator') throw new ForbiddenError("the operator's token")
  return { ...account, actor: actorOf('account', token, c.get('caller')) }
}

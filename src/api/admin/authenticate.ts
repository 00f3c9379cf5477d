import type { Context } from 'hono'
import { ForbiddenError, NotFoundError, UnauthorizedError } from '../../errors/restErrors.js'
import { findAccount } from '../../store/tenants/accounts.js'
import { type Actor, audited } from '../../store/tenants/audit.js'
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

/** The header by which the operator says whose account is looked into. */
const LOOK = 'x-account-id'

/**
 * The operator in the place of an account, for a request that only reads; the audit log keeps each. Throws
 * ForbiddenError, NotFoundError.
 */
async function lookInto(
  c: Context<Env>,
  { database }: AdminContext,
  actor: Actor,
): Promise<AdminCaller> {
  const accountId = c.req.header(LOOK)
  if (accountId === undefined || c.req.method !== 'GET')
    throw new ForbiddenError(
      `the token of an account; the operator's may read only, with the header ${LOOK}`,
    )
  if ((await findAccount(database, accountId)) === undefined) throw new NotFoundError('Account')
  await audited(database, actor, ({ record }) =>
    record({
      action: 'account.look',
      objectId: accountId,
      accountId,
      appId: null,
      after: { path: c.req.path.slice(0, 300) },
    }),
  )
  return { accountId, actor }
}

/** Throws UnauthorizedError, ForbiddenError, NotFoundError, RateLimitError. */
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
    const actor = actorOf('operator', token, c.get('caller'))
    return who === 'account' ? lookInto(c, context, actor) : { accountId: undefined, actor }
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

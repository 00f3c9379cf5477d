import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import {
  ForbiddenError,
  InvalidFieldError,
  NotFoundError,
  UnauthorizedError,
  WrongSiteError,
} from '../../base/errors/restErrors.js'
import type { Role } from '../../base/vocabulary.js'
import { mayAct } from '../../base/vocabulary.js'
import { findAccount } from '../../tenants/accounts.js'
import { type Actor, audited } from '../../tenants/audit.js'
import { hashCredential, SHARE_PREFIX } from '../../tenants/credential.js'
import { listMemberships } from '../../tenants/people/members.js'
import { findSessionUser, type SessionUser, type Visitor } from '../../tenants/people/sessions.js'
import { SESSION_SECONDS } from '../../tenants/people/signIn.js'
import type { AdminCaller, Needs, SessionCookie } from '../../tenants/route.js'
import { findShare } from '../../tenants/shares.js'
import type { AdminContext } from '../adminContext.js'
import { isKey, operatorActor, requireRole, tokenActor } from '../caller.js'
import type { Env } from '../createApp.js'
import { type Gate, networkOf } from '../gate/createGate.js'

/** The header by which a user who is signed in says in which account to act, and the operator's token which to look into. */
const ACCOUNT_HEADER = 'purser-account'

/** The token of a request: `authToken: …` as in the webhook API, or `Authorization: Bearer …`. */
export function tokenOf(c: Context<Env>): string | undefined {
  return (
    c.req.header('authToken') ?? /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
  )
}

/**
 * The operator in the place of an account, for a request that only reads; the audit log keeps each. Throws
 * ForbiddenError, NotFoundError.
 */
async function lookInto(
  c: Context<Env>,
  { database }: AdminContext,
  actor: Actor,
): Promise<AdminCaller> {
  const accountId = c.req.header(ACCOUNT_HEADER)
  if (accountId === undefined || c.req.method !== 'GET')
    throw new ForbiddenError(
      `the token of an account; the operator's may read only, with the header ${ACCOUNT_HEADER}`,
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
  return { accountId, actor, user: undefined }
}

/**
 * The caller, who may do what the row needs. A token is looked at before a cookie: nobody but its owner can send it.
 * Throws UnauthorizedError, ForbiddenError, WrongSiteError, NotFoundError, RateLimitError.
 */
export async function authenticateAdmin(
  c: Context<Env>,
  needs: Needs,
  context: AdminContext,
  gate: Gate,
): Promise<AdminCaller> {
  const { ip, requestId } = c.get('caller')
  gate.enter(ip)
  if (needs.who === 'anybody') {
    requireSameSite(c, requireSite(c, context.adminUrl))
    gate.tryCredential(ip, '')
    return {
      accountId: undefined,
      actor: { kind: 'user', id: null, ip, requestId },
      user: undefined,
    }
  }
  const token = tokenOf(c)
  if (token?.startsWith(SHARE_PREFIX)) return byShare(c, token, needs, context, gate)
  if (token !== undefined) return byToken(c, token, needs, context, gate)
  if (!cookieNames.some((name) => getCookie(c, name) !== undefined))
    throw new UnauthorizedError('Auth token is required in the header authToken or Authorization')
  return bySession(c, needs, context, gate)
}

/**
 * Whether the caller of a request that was let in, and is still being answered, would be let in once more. Counts no
 * attempt and keeps no record.
 */
export async function isStillLetIn(
  c: Context<Env>,
  { role }: Needs,
  context: AdminContext,
): Promise<boolean> {
  const token = tokenOf(c)
  if (token !== undefined) {
    if (context.isOperator(token)) return true
    const owner = await context.authenticateToken(token)
    return owner !== undefined && (role === undefined || mayAct(owner.role, role))
  }
  const cookie = getCookie(c, requireSite(c, context.adminUrl).cookieName) ?? ''
  const user = await findSessionUser(context.database, hashCredential(cookie))
  if (user === undefined) return false
  try {
    const place = await placeOf(context, user, c.req.header(ACCOUNT_HEADER))
    return role === undefined || mayAct(place.role, role)
  } catch (error) {
    if (error instanceof NotFoundError) return false
    throw error
  }
}

async function byToken(
  c: Context<Env>,
  token: string,
  { who, role }: Needs,
  context: AdminContext,
  gate: Gate,
): Promise<AdminCaller> {
  const caller = c.get('caller')
  const { ip } = caller
  gate.tryCredential(ip, token)
  if (context.isOperator(token)) {
    gate.credentialWasRight(token)
    const actor = operatorActor(token, caller)
    // A list of all accounts is that of one where the header names it.
    const isOfOne = who === 'either' && c.req.header(ACCOUNT_HEADER) !== undefined
    if (who === 'account' || isOfOne) return lookInto(c, context, actor)
    if (who === 'user') throw new ForbiddenError('a user who is signed in')
    return { accountId: undefined, actor, user: undefined }
  }
  const owner = isKey(token) ? await context.authenticateToken(token) : undefined
  if (owner === undefined) {
    gate.credentialWasWrong(ip)
    throw new UnauthorizedError('Unknown or revoked auth token')
  }
  gate.credentialWasRight(token)
  if (who === 'operator') throw new ForbiddenError("the operator's token")
  if (who === 'user') throw new ForbiddenError('a user who is signed in')
  const { accountId } = owner
  if ((c.req.header(ACCOUNT_HEADER) ?? accountId) !== accountId) throw new NotFoundError('Account')
  if (role !== undefined) requireRole(owner.role, role)
  return { accountId, actor: tokenActor(owner, token, caller), user: undefined }
}

/** The reader of one operation by its link, which counts as a key of its own where it is limited. */
async function byShare(
  c: Context<Env>,
  token: string,
  { isShared }: Needs,
  { database }: AdminContext,
  gate: Gate,
): Promise<AdminCaller> {
  const { ip, requestId } = c.get('caller')
  gate.tryCredential(ip, token)
  const share = isKey(token) ? await findShare(database, hashCredential(token)) : undefined
  if (share === undefined) {
    gate.credentialWasWrong(ip)
    throw new UnauthorizedError('This link is unknown, was withdrawn, or is past its end')
  }
  gate.credentialWasRight(token)
  gate.call(share.id, 'eth_sendUserOperation')
  const { chainId = share.chainId, userOpHash = share.userOpHash } = c.req.param() as Partial<
    Record<string, string>
  >
  const isIts = Number(chainId) === share.chainId && userOpHash.toLowerCase() === share.userOpHash
  if (!isShared || !isIts) throw new ForbiddenError('more than a link to one operation')
  const actor = { kind: 'token', id: share.id, ip, requestId } as const
  return { accountId: share.accountId, actor, user: undefined, share }
}

async function bySession(
  c: Context<Env>,
  needs: Needs,
  context: AdminContext,
  gate: Gate,
): Promise<AdminCaller> {
  const { ip, requestId } = c.get('caller')
  const site = requireSite(c, context.adminUrl)
  requireSameSite(c, site)
  const token = getCookie(c, site.cookieName) ?? ''
  gate.tryCredential(ip, token)
  const { database } = context
  const user = isKey(token) ? await findSessionUser(database, hashCredential(token)) : undefined
  if (user === undefined) {
    gate.credentialWasWrong(ip)
    throw new UnauthorizedError('The session has ended: sign in')
  }
  gate.credentialWasRight(token)
  const as = (kind: Actor['kind']): Actor => ({ kind, id: user.userId, ip, requestId })
  if (needs.who === 'user') return { accountId: undefined, actor: as('user'), user }
  const accountId = c.req.header(ACCOUNT_HEADER)
  if (needs.who === 'operator' && !user.isOperator)
    throw new ForbiddenError('an operator of this instance')
  const isOfInstance = needs.who === 'either' && user.isOperator && accountId === undefined
  if (needs.who === 'operator' || isOfInstance)
    return { accountId: undefined, actor: as('operator'), user }
  const { role, kind } = await placeOf(context, user, accountId)
  if (needs.role !== undefined) requireRole(role, needs.role)
  return { accountId, actor: as(kind), user }
}

/** The role of a user in the account; operators enter any, and are recorded as such. */
async function placeOf(
  { database }: AdminContext,
  { userId, isOperator }: SessionUser,
  accountId: string | undefined,
): Promise<{ readonly role: Role; readonly kind: Actor['kind'] }> {
  if (accountId === undefined)
    throw new InvalidFieldError(`The header ${ACCOUNT_HEADER}`, 'must name an account')
  const memberships = await listMemberships(database, userId)
  const membership = memberships.find((each) => each.accountId === accountId)
  if (membership !== undefined) return { role: membership.role, kind: 'user' }
  const account = isOperator ? await findAccount(database, accountId) : undefined
  if (account === undefined || account.revokedAt !== null) throw new NotFoundError('Account')
  return { role: 'admin', kind: 'operator' }
}

/** The address by which a browser reached us. */
type Site = {
  readonly origin: string
  /** Over https: the cookie is sent over nothing else, and no other host can set it. */
  readonly isSecure: boolean
  readonly cookieName: string
}

const SECURE_COOKIE = '__Host-purser'
const PLAIN_COOKIE = 'purser'
const cookieNames: readonly string[] = [SECURE_COOKIE, PLAIN_COOKIE]

/**
 * The site of a request: the configured one or this machine. Any other Host is one that somebody points at us
 * (DNS rebinding), or plain http over a network. Throws WrongSiteError.
 */
export function requireSite(c: Context<Env>, adminUrl: string | undefined): Site {
  const host = (c.req.header('host') ?? '').toLowerCase()
  const configured = adminUrl === undefined ? undefined : new URL(adminUrl)
  if (configured?.protocol === 'https:' && configured.host === host)
    return { origin: configured.origin, isSecure: true, cookieName: SECURE_COOKIE }
  if (/^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/.test(host))
    return { origin: `http://${host}`, isSecure: false, cookieName: PLAIN_COOKIE }
  throw new WrongSiteError()
}

/**
 * Refuses what another site made a browser send: a browser sends the cookie whichever site makes it ask. Browsers say by
 * Sec-Fetch-Site who asked; of one that does not, a change needs an Origin that is ours. Throws WrongSiteError.
 */
function requireSameSite(c: Context<Env>, { origin }: Site): void {
  const fetchSite = c.req.header('sec-fetch-site')
  if (c.req.method === 'GET') {
    if (fetchSite === 'cross-site' || fetchSite === 'same-site') throw new WrongSiteError()
    return
  }
  const isOurs =
    fetchSite === undefined ? c.req.header('origin') === origin : fetchSite === 'same-origin'
  const isJson = /^application\/json\b/i.test(c.req.header('content-type') ?? '')
  if (!isOurs || (c.req.method !== 'DELETE' && !isJson)) throw new WrongSiteError()
}

export function visitorOf(c: Context<Env>): Visitor {
  const { ip, requestId } = c.get('caller')
  return { ip, requestId, network: networkOf(ip), agent: c.req.header('user-agent') ?? null }
}

/** The cookie of a session: no script can read it, and no other site can make a browser send it. */
export function cookieOf(c: Context<Env>, adminUrl: string | undefined): SessionCookie {
  const write = (token: string, maxAge: number): void => {
    const { cookieName, isSecure: secure } = requireSite(c, adminUrl)
    const options = { httpOnly: true, secure, sameSite: 'Strict', path: '/', maxAge } as const
    setCookie(c, cookieName, token, options)
  }
  return { set: (token) => write(token, SESSION_SECONDS), clear: () => write('', 0) }
}

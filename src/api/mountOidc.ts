import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import type { Oidc, OidcAttempt } from '../access/createOidc.js'
import { signInByOidc } from '../access/signInByOidc.js'
import { RateLimitError } from '../errors/limitErrors.js'
import { UnauthorizedError } from '../errors/restErrors.js'
import { requireSite } from './admin/site.js'
import { cookieOf, visitorOf } from './admin/visitor.js'
import type { AdminContext } from './adminContext.js'
import type { Env, Mount } from './createApp.js'
import { restError } from './rest/restError.js'
import type { RouteContext } from './routeContext.js'

const PATH = '/console/oidc'
const CALLBACK = `${PATH}/callback`
/** The provider's answer is a request that another site began, so no Strict cookie comes with it. */
const COOKIE = 'purser-oidc'
/** Seconds that a person has at the provider. */
const PATIENCE = 600

const attemptSchema = z.strictObject({
  state: z.string().max(200),
  nonce: z.string().max(200),
  verifier: z.string().max(200),
})

/** Why the console says that nobody was signed in: the texts are its own. */
type Problem = 'away' | 'late' | 'refused' | 'unknown' | 'busy'

/**
 * Signing in with an identity provider: two pages that only redirect, to the provider and back to the console. The
 * session's cookie is set by the second; what went wrong stands in the address of the console as one word.
 */
export function mountOidc(oidc: Oidc, context: AdminContext): Mount {
  return (app, shared) => {
    app.get(PATH, (c) => guarded(c, shared, () => begin(c, oidc, context, shared)))
    app.get(CALLBACK, (c) => guarded(c, shared, () => finish(c, oidc, context, shared)))
  }
}

async function guarded(
  c: Context<Env>,
  shared: RouteContext,
  run: () => Promise<Response>,
): Promise<Response> {
  c.header('cache-control', 'no-store')
  c.header('referrer-policy', 'no-referrer')
  try {
    const { ip } = c.get('caller')
    shared.gate.enter(ip)
    // Each attempt asks the provider; a stranger's are bounded like wrong passwords.
    shared.gate.tryCredential(ip, '')
    return await run()
  } catch (thrown) {
    return restError(c, thrown, shared)
  }
}

async function begin(
  c: Context<Env>,
  oidc: Oidc,
  { adminUrl }: AdminContext,
  { gate, logger }: RouteContext,
): Promise<Response> {
  const base = baseOf(c, adminUrl)
  try {
    const { page, attempt } = await oidc.begin(new URL(base.href + CALLBACK.slice(1)))
    const value = Buffer.from(JSON.stringify(attempt)).toString('base64url')
    setCookie(c, COOKIE, value, { ...cookieOptions(base), maxAge: PATIENCE })
    return c.redirect(page.href)
  } catch (err) {
    gate.credentialWasWrong(c.get('caller').ip)
    logger.warn({ err }, 'the identity provider cannot be asked')
    return backTo(c, base, 'away')
  }
}

async function finish(
  c: Context<Env>,
  oidc: Oidc,
  context: AdminContext,
  shared: RouteContext,
): Promise<Response> {
  const base = baseOf(c, context.adminUrl)
  const attempt = attemptOf(c)
  deleteCookie(c, COOKIE, cookieOptions(base))
  if (attempt === undefined) return backTo(c, base, 'late')
  const fail = (problem: Problem): Response => {
    shared.gate.credentialWasWrong(c.get('caller').ip)
    return backTo(c, base, problem)
  }
  const address = new URL(base.href + CALLBACK.slice(1) + new URL(c.req.url).search)
  const person = await oidc.finish(address, attempt).catch((err: Error) => {
    shared.logger.warn({ reason: err.message }, 'the identity provider vouched for nobody')
    return undefined
  })
  if (person === undefined) return fail('refused')
  try {
    const { token } = await signInByOidc(context.access, person, visitorOf(c))
    cookieOf(c, context.adminUrl).set(token)
    return backTo(c, base, undefined)
  } catch (error) {
    if (error instanceof UnauthorizedError) return fail('unknown')
    if (error instanceof RateLimitError) return fail('busy')
    throw error
  }
}

/** The address of the service as the browser sees it, with a slash at its end. */
function baseOf(c: Context<Env>, adminUrl: string | undefined): URL {
  const { origin, isSecure } = requireSite(c, adminUrl)
  const prefix = isSecure && adminUrl !== undefined ? new URL(adminUrl).pathname : '/'
  return new URL(`${prefix.replace(/\/+$/, '')}/`, origin)
}

function cookieOptions(base: URL) {
  const secure = base.protocol === 'https:'
  const path = base.pathname + PATH.slice(1)
  return { httpOnly: true, secure, sameSite: 'Lax', path } as const
}

function attemptOf(c: Context<Env>): OidcAttempt | undefined {
  try {
    const text = Buffer.from(getCookie(c, COOKIE) ?? '', 'base64url').toString()
    return attemptSchema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function backTo(c: Context<Env>, base: URL, problem: Problem | undefined): Response {
  const page = new URL('console/', base)
  if (problem !== undefined) page.searchParams.set('problem', problem)
  return c.redirect(page.href)
}

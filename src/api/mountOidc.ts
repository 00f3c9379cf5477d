import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { z } from 'zod'
import { RateLimitError } from '../base/errors/limitErrors.js'
import { UnauthorizedError } from '../base/errors/restErrors.js'
import { unixNow } from '../base/unixNow.js'
import type { Oidc, OidcAttempt } from '../tenants/people/createOidc.js'
import { signInByOidc } from '../tenants/people/signInByOidc.js'
import { encryptSecret, tryDecrypt } from '../tenants/secrets.js'
import { cookieOf, requireSite, visitorOf } from './admin/authenticate.js'
import type { AdminContext } from './adminContext.js'
import type { Env, Mount } from './createApp.js'
import { restError } from './restError.js'
import type { RouteContext } from './routeContext.js'

const PATH = '/console/oidc'
const CALLBACK = `${PATH}/callback`
/** The provider's answer is a request that another site began, so no Strict cookie comes with it. */
const COOKIE = 'purser-oidc'
/** Browsers take it from this host alone, over TLS: no sibling host can plant an attempt of its own. */
const SECURE_COOKIE = '__Host-purser-oidc'
const PURPOSE = 'sign-in attempt'
/** Seconds that a person has at the provider. */
const PATIENCE = 600

const attemptSchema = z.strictObject({
  /** The address under which the browser sees us. */
  base: z.string(),
  /** Unix seconds */
  until: z.number(),
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
export function mountOidc(oidc: Oidc, admin: AdminContext, masterKey: Buffer): Mount {
  const context = { ...admin, masterKey }
  return (app, shared) => {
    app.get(PATH, (c) => guarded(c, shared, () => begin(c, oidc, context, shared)))
    app.get(CALLBACK, (c) => guarded(c, shared, () => finish(c, oidc, context, shared)))
  }
}

/** The administration, with the key that seals attempts: one that we did not begin is none. */
type OidcContext = AdminContext & { readonly masterKey: Buffer }

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
  { adminUrl, masterKey }: OidcContext,
  { gate, logger }: RouteContext,
): Promise<Response> {
  const base = baseOf(c, adminUrl)
  try {
    const { page, attempt } = await oidc.begin(new URL(base.href + CALLBACK.slice(1)))
    const text = JSON.stringify({ ...attempt, base: base.href, until: unixNow() + PATIENCE })
    const { name, options } = cookieAt(base)
    const value = encryptSecret(masterKey, PURPOSE, text).toString('base64url')
    setCookie(c, name, value, { ...options, maxAge: PATIENCE })
    return c.redirect(page.href)
  } catch (err) {
    gate.credentialWasWrong(c.get('caller').ip)
    logger.warn({ err }, 'the identity provider does not answer')
    return backTo(c, base, 'away')
  }
}

async function finish(
  c: Context<Env>,
  oidc: Oidc,
  context: OidcContext,
  shared: RouteContext,
): Promise<Response> {
  const base = baseOf(c, context.adminUrl)
  const attempt = attemptOf(c, base, context.masterKey)
  const { name, options } = cookieAt(base)
  deleteCookie(c, name, options)
  if (attempt === undefined) return backTo(c, base, 'late')
  const fail = (problem: Problem): Response => {
    shared.gate.credentialWasWrong(c.get('caller').ip)
    return backTo(c, base, problem)
  }
  const address = new URL(base.href + CALLBACK.slice(1) + new URL(c.req.url).search)
  const person = await oidc.finish(address, attempt).catch((err: Error) => {
    shared.logger.warn({ reason: err.message }, 'the identity provider rejected the sign-in')
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

function cookieAt(base: URL) {
  const secure = base.protocol === 'https:'
  const path = secure ? '/' : base.pathname + PATH.slice(1)
  const options = { httpOnly: true, secure, sameSite: 'Lax', path } as const
  return { name: secure ? SECURE_COOKIE : COOKIE, options }
}

/** The attempt that we began with this browser at this address, and that has not ended. */
function attemptOf(c: Context<Env>, base: URL, masterKey: Buffer): OidcAttempt | undefined {
  const sealed = Buffer.from(getCookie(c, cookieAt(base).name) ?? '', 'base64url')
  const text = tryDecrypt(masterKey, PURPOSE, sealed)
  if (text === undefined) return undefined
  const { base: begunAt, until, ...attempt } = attemptSchema.parse(JSON.parse(text))
  return begunAt === base.href && until >= unixNow() ? attempt : undefined
}

function backTo(c: Context<Env>, base: URL, problem: Problem | undefined): Response {
  // The page that shows the problem: any other one sends a visitor without a session there, without the query.
  const page = new URL(problem === undefined ? 'console/' : 'console/sign-in', base)
  if (problem !== undefined) page.searchParams.set('problem', problem)
  return c.redirect(page.href)
}

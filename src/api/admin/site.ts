import type { Context } from 'hono'
import { WrongSiteError } from '../../errors/restErrors.js'
import type { Env } from '../createApp.js'

/** The address by which a browser reached us. */
export type Site = {
  readonly origin: string
  /** Over https: the cookie is sent over nothing else, and no other host can set it. */
  readonly isSecure: boolean
  readonly cookieName: string
}

const SECURE_COOKIE = '__Host-purser'
const PLAIN_COOKIE = 'purser'
export const cookieNames: readonly string[] = [SECURE_COOKIE, PLAIN_COOKIE]

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
 * Refuses what another site made a browser send: a cookie is sent by whoever makes the browser ask. Browsers say by
 * Sec-Fetch-Site who asked; of one that does not, a change needs an Origin that is ours. Throws WrongSiteError.
 */
export function requireSameSite(c: Context<Env>, { origin }: Site): void {
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

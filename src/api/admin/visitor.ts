import type { Context } from 'hono'
import { setCookie } from 'hono/cookie'
import type { Visitor } from '../../access/checkPassword.js'
import { SESSION_SECONDS } from '../../access/signIn.js'
import type { Env } from '../createApp.js'
import { networkOf } from '../gate/networkOf.js'
import type { SessionCookie } from './route.js'
import { requireSite } from './site.js'

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

import { generateLinkToken, hashCredential } from '../credential.js'

/** Milliseconds for which a link is open. */
const LIFE = 30 * 60_000

/** The user whom a link signs in, and what that user is shown then. */
export type OfferedLink = {
  readonly userId: string
  /** The key and the token of a development setup, which a newcomer would otherwise look for. */
  readonly credentials: { readonly apiKey: string; readonly authToken: string }
}

export type SignInLinks = ReturnType<typeof createSignInLinks>

/**
 * Links by which `purser dev` signs its developer in: each is good once, for half an hour, and while the process runs
 * that made it. No database holds them.
 */
export function createSignInLinks(now: () => number = Date.now) {
  const open = new Map<string, OfferedLink & { readonly end: number }>()
  const idOf = (token: string) => hashCredential(token).toString('hex')
  return {
    /** @returns the token of a new link */
    offer(link: OfferedLink): string {
      const token = generateLinkToken()
      open.set(idOf(token), { ...link, end: now() + LIFE })
      return token
    },
    /** The link of a token, which ends with that; undefined = unknown, used or past its end. */
    take(token: string): OfferedLink | undefined {
      const id = idOf(token)
      const link = open.get(id)
      open.delete(id)
      return link !== undefined && now() < link.end ? link : undefined
    },
  }
}

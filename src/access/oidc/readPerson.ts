import type { Role } from '../../base/vocabulary.js'
import { mayAct } from '../../tenancy/roles.js'
import { normalEmail } from '../email.js'
import type { OidcSettings } from '../oidcSettings.js'

/** A person for whom a provider vouches. */
export type Person = {
  readonly issuer: string
  readonly subject: string
  /** In lower case; undefined = none that was verified, or of a domain for which the provider is not believed. */
  readonly email: string | undefined
  readonly name: string | undefined
  /** The role in each account that the rules name; undefined = none. */
  readonly roles: ReadonlyMap<string, Role | undefined>
}

/** Characters of a name that are kept. */
const MAX_NAME = 200

/** The person of the claims of an ID token whose signature, issuer, audience and nonce were checked. */
export function readPerson(
  claims: Readonly<Record<string, unknown>>,
  { issuer, domains, groupsClaim, roles: rules }: OidcSettings,
): Person {
  const email = verifiedEmail(claims)
  const domain = email?.slice(email.lastIndexOf('@') + 1)
  const isBelieved = domain !== undefined && domains.includes(domain)
  const claimed = claims[groupsClaim]
  const groups = new Set<unknown>(Array.isArray(claimed) ? claimed : [claimed])
  const roles = new Map<string, Role | undefined>()
  for (const { group, domain: ofDomain, account, role } of rules) {
    const best = roles.get(account)
    const fits = group === undefined ? isBelieved && ofDomain === domain : groups.has(group)
    roles.set(account, fits && (best === undefined || mayAct(role, best)) ? role : best)
  }
  const name = typeof claims.name === 'string' ? claims.name.trim().slice(0, MAX_NAME) : ''
  return {
    issuer,
    subject: String(claims.sub),
    email: isBelieved ? email : undefined,
    name: name === '' ? undefined : name,
    roles,
  }
}

/** Only true is verified: some providers send the text "false". */
function verifiedEmail(claims: Readonly<Record<string, unknown>>): string | undefined {
  return claims.email_verified === true && typeof claims.email === 'string'
    ? normalEmail(claims.email)
    : undefined
}

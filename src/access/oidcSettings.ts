import type { Role } from '../base/vocabulary.js'

/** Gives a role in an account to people of one group, or of one domain of e-mail addresses. */
export type RoleRule = {
  readonly group?: string | undefined
  /** In lower case. */
  readonly domain?: string | undefined
  readonly account: string
  readonly role: Role
}

/** An identity provider that speaks OpenID Connect, and what its people may do. */
export type OidcSettings = {
  readonly issuer: string
  readonly clientId: string
  /** undefined = a public client. */
  readonly clientSecret: string | undefined
  /** The words behind "Sign in with". */
  readonly name: string
  readonly scopes: readonly string[]
  /** The domains of e-mail addresses for which the provider is believed, in lower case. */
  readonly domains: readonly string[]
  /** The claim that holds the names of groups. */
  readonly groupsClaim: string
  readonly roles: readonly RoleRule[]
}

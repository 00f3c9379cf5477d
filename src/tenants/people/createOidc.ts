import type { Configuration, CustomFetch } from 'openid-client'
import type { z } from 'zod'
import { createOutboundClient, type OutboundClient } from '../../base/outbound/guardedRequest.js'
import { bareHost, createNetworkGuard } from '../../base/outbound/networkGuard.js'
import { mayAct, type Role } from '../../base/vocabulary.js'
import { normalEmail } from './email.js'
import type { oidcSchema } from './oidcSchema.js'

/** What the browser keeps between its way to the provider and back, where no script and no other site can read it. */
export type OidcAttempt = {
  readonly state: string
  readonly nonce: string
  /** Of PKCE. */
  readonly verifier: string
}

/** Signing in with an identity provider: authorization code, PKCE, state and nonce. */
export type Oidc = {
  readonly name: string
  /** The provider's page, and what must be known when the browser comes back. Throws what the provider's trouble is. */
  begin(callback: URL): Promise<{ readonly page: URL; readonly attempt: OidcAttempt }>
  /** The person with whom the browser came back to `address`. Throws when the provider or the answer is not to be believed. */
  finish(address: URL, attempt: OidcAttempt): Promise<Person>
  /** Asks the provider for its description. Throws in one sentence. */
  check(): Promise<void>
  close(): void
}

/** A description of a provider, and its keys, have this many bytes at most. */
const MAX_RESPONSE = 256 * 1024

/**
 * The library is loaded with the first attempt, and the provider's description asked for then: a provider that is
 * away keeps nothing else from starting. The operator named the provider's host, so it may be in a private network.
 */
export function createOidc(settings: OidcSettings): Oidc {
  const issuer = new URL(settings.issuer)
  const guard = createNetworkGuard([bareHost(issuer.hostname)])
  const client = createOutboundClient(guard, { maxBytes: MAX_RESPONSE })
  let known: Promise<Configuration> | undefined

  const discover = async (): Promise<Configuration> => {
    const library = await import('openid-client')
    const { clientId, clientSecret } = settings
    const isPlain = issuer.protocol === 'http:'
    const configuration = await library.discovery(
      issuer,
      clientId,
      undefined,
      clientSecret === undefined ? library.None() : library.ClientSecretPost(clientSecret),
      {
        [library.customFetch]: guardedFetch(client),
        execute: isPlain ? [library.allowInsecureRequests] : [],
      },
    )
    // The signature is checked too, although TLS says already who sent the token.
    library.enableNonRepudiationChecks(configuration)
    return configuration
  }
  const configurationOf = (): Promise<Configuration> => {
    known ??= discover().catch((error) => {
      known = undefined
      throw error
    })
    return known
  }

  return {
    name: settings.name,
    async begin(callback) {
      const library = await import('openid-client')
      const configuration = await configurationOf()
      const attempt = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      }
      const page = library.buildAuthorizationUrl(configuration, {
        redirect_uri: callback.href,
        scope: settings.scopes.join(' '),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      })
      return { page, attempt }
    },
    async finish(address, { state, nonce, verifier }) {
      const library = await import('openid-client')
      const tokens = await library.authorizationCodeGrant(await configurationOf(), address, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new TypeError('The identity provider sent no ID token.')
      return readPerson(claims, settings)
    },
    async check() {
      await configurationOf()
    },
    close: () => client.close(),
  }
}

/** Milliseconds for one request to the provider. */
const DEADLINE = 10_000

/** `fetch` by the guarded client, for a library that asks by `fetch`. Failed answers come without a body. */
function guardedFetch(client: OutboundClient): CustomFetch {
  return async (url, { method, headers, body }) => {
    const { response } = await client.request(
      {
        url: new URL(url),
        method: method === 'POST' ? 'POST' : 'GET',
        headers,
        body: body === undefined || body === null ? undefined : Buffer.from(String(body)),
      },
      AbortSignal.timeout(DEADLINE),
    )
    if (response.ok)
      return new Response(response.body, {
        status: response.status,
        headers: { 'content-type': response.type },
      })
    if (response.outcome === 'http_status' && response.status !== undefined)
      return new Response(null, { status: response.status })
    throw new TypeError(`The identity provider does not answer: ${response.reason}`)
  }
}

/** A person whom a provider has verified. */
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
  for (const rule of rules) {
    const { account, role } = rule
    const best = roles.get(account)
    const fits = 'group' in rule ? groups.has(rule.group) : isBelieved && rule.domain === domain
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

export type OidcSettings = z.output<typeof oidcSchema> & {
  /** undefined = a public client. */
  readonly clientSecret: string | undefined
}

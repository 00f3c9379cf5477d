import type { Configuration } from 'openid-client'
import { createOutboundClient } from '../outbound/guardedRequest.js'
import { createNetworkGuard } from '../outbound/networkGuard.js'
import { guardedFetch } from './oidc/guardedFetch.js'
import { type Person, readPerson } from './oidc/readPerson.js'
import type { OidcSettings } from './oidcSettings.js'

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
  const guard = createNetworkGuard([issuer.hostname])
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

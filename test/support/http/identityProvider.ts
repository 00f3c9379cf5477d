import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** What a provider says of a person; the key of the map is its own name for that person. */
export type People = Map<string, Readonly<Record<string, unknown>>>

export type IdentityProvider = {
  readonly issuer: string
  readonly people: People
  /** Signs `person` in on the provider's page as a browser does. @returns the address to which the browser is sent back */
  signIn(page: string, person: string): Promise<string>
  stop(): Promise<void>
}

export const clientId = 'purser-console'
export const clientSecret = 'a-secret-that-only-the-two-servers-know'

/** A real OpenID provider on this machine, which takes every password. */
export async function startIdentityProvider(): Promise<IdentityProvider> {
  const people: People = new Map()
  let answer: ReturnType<Provider['callback']> | undefined
  const server = createServer((request, response) => answer?.(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  answer = providerOf(issuer, people).callback()
  return {
    issuer,
    people,
    signIn: (page, person) => signIn(issuer, page, person),
    stop: () => end(server),
  }
}

function providerOf(issuer: string, people: People): Provider {
  const claimNames = ['email', 'email_verified', 'name', 'groups']
  return new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        token_endpoint_auth_method: 'client_secret_post',
        // Of native clients a provider ignores the port of this machine, which is free until the service has it.
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/console/oidc/callback'],
      },
    ],
    claims: { openid: ['sub', ...claimNames], email: [], profile: [] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    cookies: { keys: ['test'] },
    findAccount: (_, id) => {
      const claims = people.get(id)
      return claims && { accountId: id, claims: () => ({ sub: id, ...claims }) }
    },
  })
}

async function signIn(issuer: string, page: string, person: string): Promise<string> {
  const cookies = new Map<string, string>()
  const visit = async (url: string, body?: URLSearchParams): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie },
      ...(body && { method: 'POST', body }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return response
  }
  let response = await visit(page)
  for (let step = 0; step < 10; step++) {
    const next = response.headers.get('location')
    if (next === null) throw new Error(`the provider answered ${response.status} without a way on`)
    const url = new URL(next, issuer).href
    if (!url.startsWith(issuer)) return url
    if (!url.includes('/interaction/')) {
      response = await visit(url)
      continue
    }
    // The forms for the name and for the consent.
    const form = await (await visit(url)).text()
    const prompt = /name="prompt" value="(\w+)"/.exec(form)?.[1] ?? ''
    response = await visit(url, new URLSearchParams({ prompt, login: person, password: 'x' }))
  }
  throw new Error('the provider sends the browser in circles')
}

function end(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve, reject) =>
    server.close((error) => (error ? reject(error) : resolve())),
  )
}

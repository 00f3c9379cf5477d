import { randomBytes } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAccount } from '../../src/tenants/accounts.js'
import { audited, listAudit } from '../../src/tenants/audit.js'
import { createPasswords } from '../../src/tenants/people/passwords.js'
import { createUser, findUserByEmail, users } from '../../src/tenants/people/users.js'
import { listRows, updateRow } from '../../src/tenants/resource.js'
import { testActor } from '../support/actor.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import {
  clientId,
  clientSecret,
  type IdentityProvider,
  startIdentityProvider,
} from '../support/http/identityProvider.js'
import type { Json } from '../support/http/jsonRpc.js'
import { servedChain, servedOn } from '../support/service/servedChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../support/service/startPurser.js'

const external = useDatabase()
const folder = makeDataFolder()
let provider: IdentityProvider
let chain: PublicChain
let service: RunningService
let accountId: string

beforeAll(async () => {
  provider = await startIdentityProvider()
  chain = await startPublicChain(1_503)
  const { account } = await audited(external().database, testActor, (change) =>
    createAccount(change, 'a company'),
  )
  accountId = account.id
  const oidc = {
    issuer: provider.issuer,
    clientId,
    name: 'the company',
    domains: ['company.example'],
    roles: [
      { group: 'payments', account: accountId, role: 'admin' },
      { domain: 'company.example', account: accountId, role: 'viewer' },
    ],
  }
  const environment = servedOn(external(), [servedChain(chain)], {
    PURSER_MASTER_KEY: randomBytes(32).toString('hex'),
    PURSER_OIDC: JSON.stringify(oidc),
    PURSER_OIDC_CLIENT_SECRET: clientSecret,
    PURSER_LOG_LEVEL: 'trace',
    PURSER_ADMIN_URL: 'https://purser.example',
  })
  const args = ['serve', '--data', folder, '--port', '0', '--drain-seconds', '0']
  service = await startService(args, environment)
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await chain?.stop()
  await provider?.stop()
  removeDataFolder(folder)
})
beforeEach(() => provider.people.clear())

/** A request as a browser makes it after a page of the provider: it comes from another site. */
function visit(url: string, cookie = ''): Promise<Response> {
  const headers = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  return fetch(url, { redirect: 'manual', headers })
}

function cookiesOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}

/** Begins at the console. @returns the page of the provider, and the browser's cookie */
async function begin(): Promise<{ readonly page: string; readonly cookie: string }> {
  const response = await visit(`${urlOf(service)}/console/oidc`)
  expect(response.status).toBe(302)
  return { page: response.headers.get('location') ?? '', cookie: cookiesOf(response) }
}

/** The whole way of a person. @returns where the browser ends, with which cookies */
async function enter(person: string) {
  const { page, cookie } = await begin()
  const back = await visit(await provider.signIn(page, person), cookie)
  expect(back.status).toBe(302)
  const place = new URL(back.headers.get('location') ?? '')
  const problem = place.searchParams.get('problem')
  const screen = problem === null ? '' : 'sign-in'
  expect(place.origin + place.pathname).toBe(`${urlOf(service)}/console/${screen}`)
  return { problem, back }
}

async function sessionOf(response: Response): Promise<Json> {
  const answer = await fetch(`${urlOf(service)}/admin/v1/session`, {
    headers: { cookie: cookiesOf(response), 'sec-fetch-site': 'same-origin' },
  })
  expect(answer.status).toBe(200)
  return answer.json()
}

const ada = { email: 'Ada@Company.example', email_verified: true, name: 'Ada' }

test('a person for whom a rule has a role becomes a user, who keeps name and place when the address changes', async () => {
  provider.people.set('ada-1', { ...ada, groups: ['payments', 'all'] })
  const { problem, back } = await enter('ada-1')
  expect(problem).toBeNull()
  const [session = ''] = back.headers.getSetCookie().filter((line) => line.startsWith('purser='))
  for (const attribute of ['HttpOnly', 'SameSite=Strict', 'Path=/'])
    expect(session).toContain(attribute)
  const first = await sessionOf(back)
  expect(first).toMatchObject({
    user: { email: 'ada@company.example', name: 'Ada', isOperator: false, hasPassword: false },
    memberships: [{ accountId, role: 'admin' }],
  })
  provider.people.set('ada-1', { ...ada, email: 'ada.l@company.example', groups: 'payments' })
  const second = await sessionOf((await enter('ada-1')).back)
  expect(second.user.id).toBe(first.user.id)
  const { items } = await listAudit(external().database, undefined, {
    limit: 20,
    before: undefined,
  })
  const actions = items.map(({ action, actor_id }) => `${action} ${actor_id === first.user.id}`)
  for (const each of ['session.create true', 'member.create true']) expect(actions).toContain(each)
})

test('the rules decide at each sign-in, and an account keeps its last admin', async () => {
  provider.people.set('bo-1', {
    email: 'bo@company.example',
    email_verified: true,
    groups: ['payments'],
  })
  expect((await sessionOf((await enter('bo-1')).back)).memberships[0].role).toBe('admin')
  provider.people.set('bo-1', { email: 'bo@company.example', email_verified: true })
  expect((await sessionOf((await enter('bo-1')).back)).memberships[0].role).toBe('viewer')
  provider.people.set('bo-1', { email: 'bo@elsewhere.example', email_verified: true })
  expect((await sessionOf((await enter('bo-1')).back)).memberships).toEqual([])
  provider.people.set('ada-1', { ...ada, groups: [] })
  expect((await sessionOf((await enter('ada-1')).back)).memberships[0].role).toBe('admin')
})

test.each([
  ['an address that the provider has not verified', { ...ada, email_verified: false }],
  ['one that it calls verified in words', { ...ada, email_verified: 'true' }],
  ['another person with the address of a user who is known', ada],
  [
    'an operator of a domain that is not theirs',
    { email: 'root@other.example', email_verified: true },
  ],
  [
    'a group without a believed address',
    { email: 'x@other.example', email_verified: true, groups: ['payments'] },
  ],
])('%s lets nobody in', async (_, claims) => {
  const { database } = external()
  if ((await findUserByEmail(database, 'root@other.example')) === undefined)
    await audited(database, testActor, (change) =>
      createUser(change, {
        email: 'root@other.example',
        name: 'root',
        isOperator: true,
        passwordHash: null,
      }),
    )
  const before = await listRows(database, users, {})
  provider.people.set('mallory', claims)
  const { problem, back } = await enter('mallory')
  expect(problem).toBe('unknown')
  expect(cookiesOf(back)).not.toMatch(/\bpurser=/)
  expect(await listRows(database, users, {})).toEqual(before)
})

test('a password that was chosen before the provider proved the address ends, with its sessions', async () => {
  const [email, password] = ['eve@company.example', 'nine blue whales, singing']
  const passwordHash = await createPasswords().hash(password, 'test')
  await audited(external().database, testActor, (change) =>
    createUser(change, { email, name: 'Eve', isOperator: false, passwordHash }),
  )
  const url = `${urlOf(service)}/admin/v1/session`
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const body = JSON.stringify({ email, password })
  const signIn = () => fetch(url, { method: 'POST', headers, body })
  const planted = await signIn()
  expect((await sessionOf(planted)).user.hasPassword).toBe(true)
  provider.people.set('eve-1', { email, email_verified: true })
  const { user } = await sessionOf((await enter('eve-1')).back)
  expect(user).toMatchObject({ email, hasPassword: false })
  expect((await signIn()).status).toBe(401)
  const before = await fetch(url, { headers: { ...headers, cookie: cookiesOf(planted) } })
  expect(before.status).toBe(401)
  await sessionOf((await enter('eve-1')).back)
})

test('who is disabled stays outside', async () => {
  provider.people.set('cy-1', { email: 'cy@company.example', email_verified: true })
  const { user } = await sessionOf((await enter('cy-1')).back)
  await audited(external().database, testActor, (change) =>
    updateRow(change, users, { id: user.id }, { disabled_at: new Date() }),
  )
  expect((await enter('cy-1')).problem).toBe('unknown')
})

test("an answer is taken once, and only by the browser that began: nobody is signed in to another's session", async () => {
  provider.people.set('ada-1', ada)
  const [own, others] = [await begin(), await begin()]
  const answer = await provider.signIn(own.page, 'ada-1')
  const problemOf = async (url: string, cookie: string) => {
    const back = await visit(url, cookie)
    expect(cookiesOf(back)).not.toMatch(/\bpurser=/)
    const { pathname, searchParams } = new URL(back.headers.get('location') ?? '')
    expect(pathname).toBe('/console/sign-in')
    return searchParams.get('problem')
  }
  expect(await problemOf(answer, '')).toBe('late')
  expect(await problemOf(answer, 'purser-oidc=bm9uc2Vuc2U')).toBe('late')
  // What is right in every word, but not begun by us; and ours with one bit changed.
  const forged = { state: 's', nonce: 'n', verifier: 'v', base: `${urlOf(service)}/`, until: 9e9 }
  const planted = Buffer.from(JSON.stringify(forged)).toString('base64url')
  expect(await problemOf(answer, `purser-oidc=${planted}`)).toBe('late')
  const [name = '', value = ''] = own.cookie.split('=')
  const bytes = Buffer.from(value, 'base64url')
  bytes[bytes.length - 1]! ^= 1
  expect(await problemOf(answer, `${name}=${bytes.toString('base64url')}`)).toBe('late')
  expect(await problemOf(answer, others.cookie)).toBe('refused')
  const denied = new URL(answer)
  denied.search = `?error=access_denied&state=${new URL(own.page).searchParams.get('state')}`
  expect(await problemOf(denied.href, own.cookie)).toBe('refused')
  const foreign = new URL(answer)
  foreign.searchParams.set('iss', 'https://mixed.example')
  expect(await problemOf(foreign.href, own.cookie)).toBe('refused')
  expect(new URL((await visit(answer, own.cookie)).headers.get('location') ?? '').search).toBe('')
  expect(await problemOf(answer, own.cookie)).toBe('refused')
  expect(service.output()).not.toContain(clientSecret)
  expect(service.output()).not.toContain(new URL(answer).searchParams.get('code'))
})

test('the console offers the provider by its name', async () => {
  const page = await (await fetch(`${urlOf(service)}/console/`)).text()
  expect(page).toContain('<meta name="purser-provider" content="the company" />')
})

test('the check says whether the provider can be used', async () => {
  const findingOf = async (issuer: string) => {
    const oidc = { issuer, clientId, domains: ['company.example'] }
    const environment = {
      PURSER_OIDC: JSON.stringify(oidc),
      DATABASE_URL: databaseUrlOf(external()),
    }
    const { stdout } = await runCli(['check', '--json', '--data', folder], environment)
    const { findings } = JSON.parse(stdout) as {
      findings: { group: string; level: string; text: string }[]
    }
    return findings.find(({ group }) => group === 'sign-in')
  }
  expect(await findingOf(provider.issuer)).toMatchObject({ level: 'ok' })
  expect(await findingOf(chain.rpcUrl)).toMatchObject({ level: 'fault' })
  expect(await findingOf('http://localhost:1')).toMatchObject({ level: 'fault' })
})

/** A request as the proxy that speaks TLS passes it on. */
function visitPublic(path: string, cookie = ''): Promise<IncomingMessage> {
  const headers = { host: 'purser.example', cookie, 'sec-fetch-site': 'cross-site' }
  return new Promise((resolve, reject) => {
    get(`${urlOf(service)}${path}`, { headers }, (answer) => resolve(answer.resume())).on(
      'error',
      reject,
    )
  })
}

test('over https no other host can plant an attempt, nor is one taken that was begun at another address', async () => {
  const begun = await visitPublic('/console/oidc')
  const [cookie = ''] = begun.headers['set-cookie'] ?? []
  expect(cookie).toMatch(/^__Host-purser-oidc=/)
  for (const attribute of ['Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax'])
    expect(cookie.split('; ')).toContain(attribute)
  expect(cookie).not.toContain('Domain')
  const own = cookie.split(';')[0] ?? ''
  const elsewhere = (await begin()).cookie
  const callback = '/console/oidc/callback?code=x&state=y'
  const problemOf = async (given: string) =>
    new URL((await visitPublic(callback, given)).headers.location ?? '').searchParams.get('problem')
  expect(await problemOf(own)).toBe('refused')
  expect(await problemOf(own.replace('__Host-', ''))).toBe('late')
  expect(await problemOf(`__Host-${elsewhere}`)).toBe('late')
})

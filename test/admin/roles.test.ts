import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/api/admin/routeTable.js'
import type { Role } from '../../src/base/vocabulary.js'
import { audited } from '../../src/tenants/audit.js'
import { createAuthToken } from '../../src/tenants/authTokens.js'
import type { Route } from '../../src/tenants/route.js'
import { testActor } from '../support/actor.js'
import { fillTenant, type TenantObjects } from '../support/database/fillTenant.js'
import { storeUser } from '../support/database/storeUser.js'
import { operatorToken, type Tenant, useAdmin } from '../support/http/useAdmin.js'

const { send, database, one, two } = useAdmin()

const roles = ['viewer', 'developer', 'admin'] as const
type Headers = Readonly<Record<string, string>>

/** Somebody who asks, and what that party is: said here once more, so that the service is compared with it. */
type Party = {
  readonly name: string
  readonly headers: Headers
  readonly isUser: boolean
  readonly isOperator: boolean
  /** The account in which the party acts; `strange` = a user names one in which that user has no role. */
  readonly account: 'one' | 'two' | 'strange' | undefined
  readonly role: Role | undefined
}

let parties: readonly Party[]
let ids: TenantObjects

async function tokenOf(tenant: Tenant, role: Role): Promise<Headers> {
  const settings = { accountId: tenant.accountId, name: role, role, expiresAt: null }
  const made = await audited(database(), testActor, (change) => createAuthToken(change, settings))
  return { authToken: made?.authToken ?? '' }
}

beforeAll(async () => {
  ids = await fillTenant(database(), one())
  const made: Party[] = []
  const add = (name: string, headers: Headers, party: Partial<Party>) =>
    made.push({
      name,
      headers,
      isUser: headers.cookie !== undefined,
      isOperator: false,
      account: undefined,
      role: undefined,
      ...party,
    })
  for (const role of roles) {
    const { accountId } = one()
    const account = 'one'
    add(`token, ${role}`, await tokenOf(one(), role), { account, role })
    add(`user, ${role}`, (await storeUser(database(), { accountId, role })).headers, {
      account,
      role,
    })
    add(`token of another account, ${role}`, await tokenOf(two(), role), { account: 'two', role })
    const other = await storeUser(database(), { accountId: two().accountId, role })
    add(`user of another account, ${role}`, other.headers, { account: 'two', role })
    add(
      `user of another account, ${role}, who names this one`,
      { ...other.headers, 'purser-account': accountId },
      { account: 'strange' },
    )
  }
  add('first token', { authToken: one().token }, { account: 'one', role: 'admin' })
  const operator = await storeUser(database(), { isOperator: true })
  add('operator, signed in', operator.headers, { isOperator: true })
  add(
    'operator, in the account',
    { ...operator.headers, 'purser-account': one().accountId },
    { isOperator: true, account: 'one', role: 'admin' },
  )
  add('operator token', { authToken: operatorToken }, { isOperator: true })
  add('user without an account', (await storeUser(database(), {})).headers, {})
  parties = made
})

/** The status by which a party is refused before its request is looked at; undefined = it may ask. */
function refusalOf({ who, role }: Route, party: Party): number | undefined {
  const { isUser, isOperator, account } = party
  // Requests of scripts without a token come from no browser, so from no page of ours.
  if (who === 'anybody' || who === 'user') return isUser ? undefined : 403
  if (who === 'operator') return isOperator ? undefined : 403
  if (account === 'strange') return 404
  if (account === undefined) {
    if (who === 'either') return isOperator ? undefined : isUser ? NEEDS_ACCOUNT : 403
    return isUser ? NEEDS_ACCOUNT : 403
  }
  const isEnough =
    party.role !== undefined && roles.indexOf(party.role) >= roles.indexOf(role ?? 'admin')
  return isEnough ? undefined : 403
}

/** A user who is signed in named no account. */
const NEEDS_ACCOUNT = 400

/** A path with the ids of tenant one, or with ids of nothing at all. */
function pathOf({ path }: Route, objects: TenantObjects | undefined): string {
  const nothing: TenantObjects = { chainId: ids.chainId ?? '', userOpHash: `0x${'ab'.repeat(32)}` }
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    objects === undefined ? (nothing[name] ?? randomUUID()) : (ids[name] ?? name),
  )
}

describe('every row of the route table', () => {
  test('names a role where it is about an account, and a change needs more than reading', () => {
    for (const { method, path, who, role } of routes) {
      const isAccounts = who === 'account' || who === 'either'
      expect({ method, path, isRole: roles.some((each) => each === role) }).toEqual({
        method,
        path,
        isRole: isAccounts,
      })
      if (isAccounts && method !== 'GET')
        expect({ method, path, role }).not.toMatchObject({ role: 'viewer' })
    }
  })

  test('that changes something is for admins, unless it is about what the code of an app uses', () => {
    const ofDevelopers =
      /\{appId\}\/(abi|keys|webhooks|subscriptions|simulate|policies\/try)\b|\/cancel$|\/policies\/check$/
    const ofViewers = /^\/(?!auth-tokens|invitations)/
    for (const { method, path, role } of routes) {
      if (role === undefined) continue
      // Both run the operation: they cost what a simulation costs.
      const isRun = /\/(advice|waterfall)$/.test(path)
      const isRead = method === 'GET' && !isRun
      const isDevelopers = ofDevelopers.test(path) || isRun
      const least = isRead ? ofViewers.test(path) && 'viewer' : isDevelopers && 'developer'
      expect({ method, path, role }).toEqual({ method, path, role: least || 'admin' })
    }
  })

  const queries: Readonly<Record<string, string>> = {
    '/explain': '?code=AA25',
    '/search': `?q=${randomUUID()}`,
    '/chains/{chainId}/rehearsal': '?fork=amsterdam',
    '/spend': '?from=2026-01-01T00:00:00Z&until=2026-02-01T00:00:00Z',
  }
  // The tenants of this test have no bundles, no call that failed, and nothing that was run.
  const absent: readonly string[] = [
    '/chains/{chainId}/bundles/{bundleId}',
    '/operations/{chainId}/{userOpHash}/advice',
    '/operations/{chainId}/{userOpHash}/waterfall',
    '/operations/{chainId}/{userOpHash}/replay',
  ]
  // Signing out ends the party: see signIn.test.ts.
  const asked = routes.filter(({ method, path }) => `${method} ${path}` !== 'DELETE /session')
  const named = asked.map((route) => [`${route.method} ${route.path}`, route] as const)

  test.each(named)('%s is for those whose role suffices, and for nobody else', async (_, route) => {
    const isRead = route.method === 'GET'
    const hasObject = route.path.includes('{')
    for (const party of parties) {
      // A change is asked for on what does not exist: it is refused before or after that is seen.
      const path = pathOf(route, isRead ? ids : undefined) + (queries[route.path] ?? '')
      const { status, body } = await send(
        route.method,
        path,
        party.headers,
        isRead ? undefined : {},
      )
      const seen = { party: party.name, status }
      const refusal = refusalOf(route, party)
      if (refusal !== undefined) expect(seen).toEqual({ ...seen, status: refusal })
      else if (route.path === '/settings/reload') expect(status).toBe(200)
      else if (!isRead) expect([400, 404]).toContain(status)
      else if (party.account === 'two' && hasObject) expect(seen).toEqual({ ...seen, status: 404 })
      else expect(seen).toEqual({ ...seen, status: absent.includes(route.path) ? 404 : 200 })
      if (party.account !== 'one' && !party.isOperator)
        for (const name of Object.keys(ids).filter((each) => each !== 'chainId'))
          expect(JSON.stringify(body)).not.toContain(ids[name])
    }
    const nobody = await send(route.method, pathOf(route, ids), {}, isRead ? undefined : {})
    expect(nobody.status).toBe(route.who === 'anybody' ? 403 : 401)
  })
})

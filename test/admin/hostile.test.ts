import { randomUUID } from 'node:crypto'
import { Agent } from 'node:http'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { routes } from '../../src/api/admin/routeTable.js'
import { fillTenant } from '../support/database/fillTenant.js'
import { type Json, mutated, rawBody } from '../support/http/hostileJson.js'
import { expectSafeAnswer, sendHostile } from '../support/http/sendHostile.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'
import { randomRuns } from '../support/runs.js'

const seed = Number(process.env.PURSER_TEST_SEED ?? 20_260_102)
const { database, one, two, url } = useAdmin()
const agent = new Agent({ keepAlive: true, maxSockets: 4 })
afterAll(() => agent.destroy())

const bodies: readonly Json[] = [
  {
    name: 'x',
    scopes: ['bundler'],
    methods: null,
    allowedIps: ['::1'],
    expiresAt: null,
    quotas: {},
  },
  { name: 'x', appId: null, terms: { budgets: [{ per: 'sender', limit: { wei: '1' } }] } },
  {
    name: 'x',
    appId: null,
    terms: {
      calls: { allow: [{ target: 'any', function: 'f(string)', where: { '0': { $eq: 'x' } } }] },
    },
  },
  { webhookUrl: 'https://dapp.example/', requestType: 'POST', payload: 'plain', active: true },
  { url: 'https://dapp.example/', eventTypes: ['tank.low'], active: false },
  { alertWei: '1', alertDays: 3, since: '2030-01-01T00:00:00Z', overlapSeconds: 1 },
  { name: 'a\u0000b' },
  { url: 'https://dapp.example/\u0000', eventTypes: ['tank.low'] },
]
const queries = [
  '',
  '?limit=0',
  '?limit=1e9',
  '?limit=%00',
  '?before=%00',
  '?before=99999999999999999999',
  '?before=-1',
  '?code=%00',
  '?sender=0x',
  '?from=now',
  '?appId=x',
  '?__proto__=1',
  '?x=%ff',
]

test.each(['/search?q=a%00', '/audit?objectId=%00', '/audit/export?objectId=%00'])(
  'text that the database cannot hold is refused: %s',
  async (path) => {
    const headers = { authToken: one().token }
    const answer = await fetch(`${url()}/admin/v1${path}`, { headers })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('U+0000') })
  },
)

const paged = routes.filter(({ query }) => query !== undefined && 'before' in query.shape)

test.each(paged)('a cursor that no page gave is refused: $path', async ({ path, who }) => {
  const { appId } = one()
  const ids: Readonly<Record<string, string>> = { appId, chainId: '31337' }
  const named = path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? randomUUID())
  const authToken = who === 'operator' ? operatorToken : one().token
  for (const before of ['x', '0x00', `31337:${appId}`, randomUUID().replaceAll('-', '_')]) {
    const answer = await fetch(`${url()}/admin/v1${named}?before=${before}`, {
      headers: { authToken },
    })
    expect(answer.status, before).toBe(400)
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('`next`') })
  }
})

test(`malformed administration gets safe answers and reaches no other tenant (seed ${seed})`, async () => {
  const ids = await fillTenant(database(), one())
  const others = await fillTenant(database(), two())
  const ofOther = () =>
    Promise.all([
      database().selectFrom('keys').selectAll().where('app_id', '=', two().appId).execute(),
      database().selectFrom('webhooks').selectAll().where('app_id', '=', two().appId).execute(),
      database().selectFrom('policies').selectAll().where('app_id', '=', two().appId).execute(),
    ])
  const before = await ofOther()
  const request = fc
    .record({
      route: fc.constantFrom(
        ...routes.filter(
          ({ path, method }) =>
            !(method === 'DELETE' && path === '/apps/{appId}') &&
            // It signs, and the secrets of these tenants are under no key.
            !path.endsWith('/webhooks/{webhookId}/test'),
        ),
      ),
      query: fc.constantFrom(...queries),
      wrong: fc.option(
        fc.constantFrom('', '%00', '..', '%2e%2e', 'x'.repeat(500), others.keyId ?? ''),
        { freq: 4 },
      ),
      body: fc.oneof(
        { weight: 5, arbitrary: mutated(fc.constantFrom(...bodies)) },
        { weight: 1, arbitrary: rawBody },
      ),
    })
    .map(({ route, query, wrong, body }) => ({
      method: route.method,
      path: `/admin/v1${route.path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'appId' ? undefined : wrong) ?? ids[name] ?? '')}${query}`,
      headers: { authToken: one().token },
      body,
      route: 'webhook' as const,
    }))
  // What is mutated is good as it is: a key, and an app.
  const appPath = `/admin/v1/apps/${ids.appId}/keys`
  for (const path of [appPath, '/admin/v1/apps']) {
    const good = { name: 'x', ...(path === appPath ? (bodies[0] as object) : {}) }
    const body = Buffer.from(JSON.stringify(good))
    const headers = { authToken: one().token }
    const hostile = { method: 'POST', path, headers, body, route: 'other' } as const
    expect((await sendHostile(url(), hostile, agent)).status).toBe(201)
  }
  const seen = new Set<number>()
  for (const hostile of fc.sample(request, { seed, numRuns: randomRuns(800) })) {
    const answer = await sendHostile(url(), hostile, agent)
    seen.add(answer.status)
    // Good answers have no envelope; refusals have that of the webhook API.
    const route = answer.status < 400 ? 'other' : 'webhook'
    try {
      expectSafeAnswer({ ...hostile, route }, answer)
    } catch (cause) {
      const what = `${hostile.method} ${hostile.path} ${Buffer.from(hostile.body).toString().slice(0, 300)}`
      throw new Error(`seed ${seed}: ${what} -> ${answer.status} ${answer.text}`, { cause })
    }
  }
  expect([...seen]).toEqual(expect.arrayContaining([200, 400, 403, 404]))
  expect(await ofOther()).toEqual(before)
})

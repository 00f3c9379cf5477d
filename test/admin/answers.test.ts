import { randomUUID } from 'node:crypto'
import { Validator } from '@seriousme/openapi-schema-validator'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { openApi } from '../../src/api/admin/openApi.js'
import { routes } from '../../src/api/admin/routeTable.js'
import { EXAMPLE_ENTRY_POINT, exampleOperationJson } from '../../src/api/methods/examples.js'
import type { ChainServices } from '../../src/api/services.js'
import type { EventType } from '../../src/base/vocabulary.js'
import { emitEvent } from '../../src/db/events.js'
import { inTransaction } from '../../src/db/inTransaction.js'
import { setAlert } from '../../src/paymaster/ledger/alerts.js'
import { recordCircuit } from '../../src/records/circuits.js'
import { findBrokenAudit } from '../../src/tenants/audit.js'
import {
  fillTenant,
  storeCall,
  storeOperation,
  storeRefusal,
} from '../support/database/fillTenant.js'
import { expectDocumented } from '../support/http/documented.js'
import type { Json } from '../support/http/jsonRpc.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'
import { until } from '../support/until.js'

const { admin, call, database, one, send, signInLinks, two, url, memoryChains } = useAdmin()

const document: Json = openApi(routes)

/** One request that must succeed; `useAdmin` compares each answer with the document. */
async function ask(
  method: string,
  template: string,
  ids: Record<string, string>,
  body?: unknown,
  by: string | Readonly<Record<string, string>> = one().token,
) {
  const [pathTemplate = '', query = ''] = template.split('?')
  const path = pathTemplate.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')
  const target = query ? `${path}?${query}` : path
  const headers = typeof by === 'string' ? { authToken: by } : by
  const answer = await send(method, target, headers, body)
  const operation = document.paths[pathTemplate][method.toLowerCase()]
  const [expected = ''] = Object.keys(operation.responses)
  expect({ template, status: answer.status, body: answer.body }).toMatchObject({
    status: Number(expected),
  })
  return answer.body
}

describe('every answer is as the OpenAPI document says', () => {
  test('accounts, by the operator', async () => {
    const as = (method: string, template: string, ids = {}, body?: unknown) =>
      ask(method, template, ids, body, operatorToken)
    const { account, authToken } = await as('POST', '/accounts', {}, { name: 'Ann' })
    const ids = { accountId: account.id }
    expect((await as('GET', '/accounts')).items).toContainEqual(account)
    expect(await as('GET', '/accounts/{accountId}', ids)).toEqual(account)
    const renewed = await as('POST', '/accounts/{accountId}/token', ids)
    expect((await admin('GET', '/me', renewed.authToken)).body).toEqual(account)
    expect(authToken).not.toBe(renewed.authToken)
    await as('DELETE', '/accounts/{accountId}', ids)
    expect((await as('GET', '/accounts/{accountId}', ids)).revokedAt).not.toBeNull()
    const { account: own, authToken: ownToken } = await as('POST', '/accounts', {}, { name: 'B' })
    const ofTenant = (await admin('GET', '/audit', ownToken)).body.items
    expect(ofTenant).toMatchObject([{ action: 'account.create', accountId: own.id, ip: null }])
    const changed = await as('PATCH', '/settings/log-level', {}, { level: 'debug' })
    expect(changed).toEqual({ now: 'debug', configured: 'info' })
    const settings = await as('GET', '/settings')
    expect(settings.logLevel).toEqual(changed)
    expect((await as('POST', '/settings/reload')).replacesProcesses).toBe(false)
    expect(settings.items).toContainEqual(
      expect.objectContaining({ name: 'keyRate', source: 'default', value: 10_000 }),
    )
    const { items: tables } = await as('GET', '/storage')
    expect(tables.map(({ name }: Json) => name)).toContain('operations')
    const audit = await as('GET', '/audit')
    const [reloaded, level] = audit.items.splice(0, 2)
    expect(reloaded).toMatchObject({ action: 'settings.reload', objectId: 'instance' })
    const levels = { before: { level: 'info' }, after: { level: 'debug' } }
    expect(level).toMatchObject({ action: 'log_level.update', objectId: 'instance', ...levels })
    expect(audit.items[0]).toMatchObject({ accountId: own.id, ip: expect.any(String) })
    const actions = audit.items.map((entry: Json) => [entry.action, entry.actor])
    expect(actions.slice(1, 4)).toEqual([
      ['account.revoke', 'operator'],
      ['account.rotate_token', 'operator'],
      ['account.create', 'operator'],
    ])
  })

  test('apps, keys, tanks and webhooks, by an account', async () => {
    await ask('GET', '/me', {})
    const app = await ask('POST', '/apps', {}, { name: ' shop ' })
    expect(app.name).toBe('shop')
    const ids = { appId: app.id }
    expect((await ask('GET', '/apps', {})).items).toContainEqual({ ...app, lastUsedAt: null })
    expect(await ask('GET', '/apps/{appId}', ids)).toEqual(app)
    await ask('PATCH', '/apps/{appId}', ids, { name: 'store' })
    const abi = { items: ['error Gone()'] }
    expect(await ask('POST', '/apps/{appId}/abi', ids, { abi: 'error Gone()' })).toEqual(abi)
    expect(await ask('GET', '/apps/{appId}/abi', ids)).toEqual(abi)
    expect(app.sponsor).toBeNull()
    const sponsor = { name: 'Store', icon: 'data:image/svg+xml,%3Csvg/%3E' }
    for (const [change, expected] of [
      [{ sponsor }, { name: 'store', sponsor }],
      [{}, { name: 'store', sponsor }],
      [
        { name: 'shop', sponsor: { name: 'Shop' } },
        { name: 'shop', sponsor: { name: 'Shop' } },
      ],
      [{ sponsor: null }, { name: 'shop', sponsor: null }],
    ] as const)
      expect(await ask('PATCH', '/apps/{appId}', ids, change)).toEqual({ ...app, ...expected })

    const expiresAt = '2099-01-01T00:00:00.000Z'
    const quotas = { perMinute: 7 }
    const limits = { scopes: ['paymaster'], allowedIps: ['10.0.0.0/8'], expiresAt, quotas }
    const made = await ask('POST', '/apps/{appId}/keys', ids, { name: 'k', ...limits })
    expect(made.key).toMatchObject(limits)
    const keyIds = { ...ids, keyId: made.key.id }
    expect(await ask('GET', '/apps/{appId}/keys/{keyId}', keyIds)).toEqual(made.key)
    expect(await ask('GET', '/apps/{appId}/keys/{keyId}/usage', keyIds)).toEqual({
      today: { requests: 0, refused: 0 },
      items: [],
    })
    const origins = { allowedOrigins: ['https://dapp.example'], allowedIps: null }
    const changed = await ask('PATCH', '/apps/{appId}/keys/{keyId}', keyIds, origins)
    expect(changed).toEqual({ ...made.key, ...origins })
    const usedAt = '2026-03-01T10:20:00.000Z'
    const used = database()
      .updateTable('keys')
      .set({ last_used_at: new Date(usedAt) })
    await used.where('id', '=', made.key.id).execute()
    const listed: readonly { id: string; lastUsedAt: string | null }[] = (
      await ask('GET', '/apps', {})
    ).items
    expect(listed.find(({ id }) => id === app.id)?.lastUsedAt).toBe(usedAt)
    const next = await ask('POST', '/apps/{appId}/keys/{keyId}/rotate', keyIds, {
      overlapSeconds: 60,
    })
    expect(next.key).toMatchObject({
      scopes: ['paymaster'],
      rotatedFrom: made.key.id,
      expiresAt,
      quotas,
    })
    const old = await ask('GET', '/apps/{appId}/keys/{keyId}', keyIds)
    expect(new Date(old.expiresAt).getTime()).toBeLessThan(Date.now() + 61_000)
    await ask('DELETE', '/apps/{appId}/keys/{keyId}', keyIds)
    expect((await ask('GET', '/apps/{appId}/keys', ids)).items).toHaveLength(2)

    const filled = await fillTenant(database(), { ...one(), appId: app.id })
    const tankIds = { ...ids, tankId: filled.tankId ?? '' }
    const [tank] = (await ask('GET', '/apps/{appId}/tanks', ids)).items
    expect(tank).toMatchObject({ deposit: '5', chainId: 31_337 })
    expect(await ask('GET', '/apps/{appId}/tanks/{tankId}', tankIds)).toEqual(tank)
    expect(tank).toMatchObject({ appId: app.id, locked: '2', runway: { daily: '1', days: 3 } })
    expect((await ask('GET', '/tanks', {})).items).toContainEqual(tank)
    expect((await ask('GET', '/tanks', {}, undefined, two().token)).items).toEqual([])
    expect(await ask('GET', '/apps/{appId}/tanks/{tankId}/deployment', tankIds)).toEqual({
      items: [],
    })
    const wanted = {
      chainId: 31_337,
      entryPoint: EXAMPLE_ENTRY_POINT,
      owner: `0x${'0A'.repeat(20)}`,
    }
    const newTank = await ask('POST', '/apps/{appId}/tanks', ids, wanted)
    expect(newTank).toMatchObject({ kind: 'gas', owner: wanted.owner.toLowerCase() })
    const again = await send('POST', `/apps/${app.id}/tanks`, { authToken: one().token }, wanted)
    expect(again).toMatchObject({ status: 409 })
    expect(again.body.message).toContain(newTank.address)
    const nobody = { ...wanted, owner: `0x${'00'.repeat(20)}` }
    for (const wrong of [nobody, { ...wanted, entryPoint: wanted.owner }])
      expect(
        await send('POST', `/apps/${app.id}/tanks`, { authToken: one().token }, wrong),
      ).toMatchObject({ status: 400 })
    expect(tank.lowSince).toBeNull()
    await inTransaction(database(), (trx) => setAlert(trx, tank.id, true))
    const low = await ask('GET', '/apps/{appId}/tanks/{tankId}', tankIds)
    expect(low).toEqual({ ...tank, lowSince: expect.any(String) })
    const needs = (await ask('GET', '/attention', {})).items
    expect(needs).toContainEqual(
      expect.objectContaining({ kind: 'tank', id: tank.id, appId: app.id, chainId: 31_337 }),
    )
    const ofAll = (await ask('GET', '/attention', {}, undefined, operatorToken)).items
    expect(ofAll).toContainEqual(expect.objectContaining({ id: tank.id, appName: app.name }))
    expect((await admin('GET', '/attention', two().token)).body.items).toEqual([])
    const alert = { alertWei: String(2n ** 100n) }
    const chainIds = { ...ids, chainId: '31337' }
    const fund = await ask('PATCH', '/apps/{appId}/funds/{chainId}', chainIds, alert)
    expect(fund).toMatchObject({ ...alert, chainId: 31_337, mode: 'tank' })
    expect((await ask('GET', '/apps/{appId}/funds', ids)).items).toEqual([fund])
    const elsewhere = `/apps/${app.id}/funds/5`
    const unserved = await send('PATCH', elsewhere, { authToken: one().token }, alert)
    expect(unserved.body.message).toBe('chainId is none of the configured 31337')
    const mode = '/apps/{appId}/funds/{chainId}/mode'
    const native = await ask('PATCH', mode, chainIds, { mode: 'native' }, operatorToken)
    expect(native.mode).toBe('native')
    const gift = { wei: '5', reference: 'x' }
    const credit = '/apps/{appId}/funds/{chainId}/credit'
    const credited = await ask('POST', credit, chainIds, gift, operatorToken)
    expect(credited).toEqual({
      mode: 'native',
      credit: { balance: '5', locked: '0', available: '5' },
    })
    const share = { quotas: { perDay: 9 } }
    const shared = await ask('PATCH', '/apps/{appId}/quotas', ids, share, operatorToken)
    expect(shared).toMatchObject(share)
    expect((await ask('GET', '/apps/{appId}/tokens', ids)).items).toEqual([])
    expect((await ask('GET', '/tokens', {})).items).toMatchObject([
      {
        symbol: 'TUSD',
        price: '3000.5',
        readAt: '2026-09-21T14:13:20.000Z',
        sources: [{ kind: 'fixed', price: '3000.5', reason: null }],
        taken: { collected: '0', payments: 0 },
      },
    ])

    const hook = {
      webhookUrl: 'https://dapp.example/approve',
      requestType: 'POST',
      deadlineMs: 300,
    }
    const { webhook, signingSecret } = await ask('POST', '/apps/{appId}/webhooks', ids, hook)
    expect(webhook).toMatchObject({ ...hook, payload: 'plain', onFailure: 'deny', active: true })
    const hookIds = { ...ids, webhookId: webhook.webhookId }
    expect(await ask('GET', '/apps/{appId}/webhooks/{webhookId}', hookIds)).toEqual(webhook)
    const settings = { payload: 'extended', onFailure: 'approve', active: false }
    expect(await ask('PATCH', '/apps/{appId}/webhooks/{webhookId}', hookIds, settings)).toEqual({
      ...webhook,
      ...settings,
    })
    const renewed = await ask('POST', '/apps/{appId}/webhooks/{webhookId}/secret', hookIds)
    expect(renewed.signingSecret).not.toBe(signingSecret)
    expect((await ask('GET', '/apps/{appId}/webhooks', ids)).items).toHaveLength(2)
    const tested = await ask('POST', '/apps/{appId}/webhooks/{webhookId}/test', hookIds)
    expect(tested.outcome).not.toBe('approved')
    expect(JSON.parse(tested.request.body).data).toEqual({ purserTest: true })
    expect(tested.request.headers).toHaveProperty('webhook-signature')
    const decision_id = await storeCall(database(), app.id, webhook.webhookId)
    await recordCircuit(database(), webhook.webhookId, 'open')
    const circuit = await ask('GET', '/apps/{appId}/webhooks/{webhookId}/circuit', hookIds)
    expect(circuit).toMatchObject({ state: 'open', changes: [{ state: 'open' }] })
    const calls = await ask('GET', '/apps/{appId}/webhooks/{webhookId}/calls', hookIds)
    expect(calls.items).toMatchObject([{ outcome: 'denied', decisionId: decision_id, attempts: 1 }])
    await ask('DELETE', '/apps/{appId}/webhooks/{webhookId}', hookIds)
    await ask('DELETE', '/apps/{appId}', ids)

    const audit = await ask('GET', '/audit?limit=200', {})
    const text = JSON.stringify(audit)
    for (const secret of [
      signingSecret,
      renewed.signingSecret,
      made.apiKey,
      next.apiKey,
      one().token,
    ])
      expect(text).not.toContain(secret)
    const mine = audit.items.filter((entry: Json) => entry.appId === app.id)
    expect(mine.map((entry: Json) => entry.action)).toEqual([
      'app.revoke',
      'webhook.delete',
      'webhook.rotate_secret',
      'webhook.update',
      'webhook.create',
      'app.update',
      'fund.credit',
      'fund.update',
      'fund.update',
      'tank.create',
      'key.revoke',
      'key.rotate',
      'key.update',
      'key.create',
      ...Array<string>(4).fill('app.update'),
      'app.abi',
      'app.update',
      'app.create',
    ])
    expect(mine.at(-2)).toMatchObject({ before: { name: 'shop' }, after: { name: 'store' } })
    expect(mine[0]).toMatchObject({ actor: 'account', ip: '127.0.0.1' })
    expect(await findBrokenAudit(database())).toBeUndefined()
  })

  test('subscriptions and their deliveries', async () => {
    const base = '/apps/{appId}/subscriptions'
    const each = `${base}/{subscriptionId}`
    const ids = { appId: one().appId }
    const url = 'https://dapp.example/events'
    const made = await ask('POST', base, ids, { url, eventTypes: ['tank.low'] })
    const { subscription } = made
    expect(subscription).toMatchObject({ url, eventTypes: ['tank.low'], active: true })
    const own = { ...ids, subscriptionId: subscription.id }
    expect(await ask('GET', each, own)).toEqual(subscription)
    expect((await ask('GET', base, ids)).items).toEqual([subscription])

    const emit = (type: EventType, data: Readonly<Record<string, unknown>>) =>
      inTransaction(database(), (trx) => emitEvent(trx, one().appId, type, data))
    await emit('tank.low', { tankId: 'a' })
    await emit('sponsorship.signed', { decisionId: 'b' })
    await emit('tank.low', { tankId: 'c' })
    const { items } = await ask('GET', `${each}/deliveries`, own)
    expect(items).toMatchObject([
      { type: 'tank.low', data: { tankId: 'c' }, state: 'pending', attempts: 0 },
      { type: 'tank.low', data: { tankId: 'a' }, state: 'pending', attempts: 0 },
    ])
    const { eventId } = items[1]
    expect(await ask('POST', `${each}/replay`, own, { eventId })).toEqual({ count: 1 })
    expect(await ask('POST', `${each}/replay`, own, {})).toEqual({ count: 2 })
    const later = { since: new Date(Date.now() + 60_000).toISOString() }
    expect(await ask('POST', `${each}/replay`, own, later)).toEqual({ count: 0 })
    const renewed = await ask('POST', `${each}/secret`, own)
    expect(renewed.signingSecret).not.toBe(made.signingSecret)
    expect((await ask('PATCH', each, own, { active: false })).active).toBe(false)
    await ask('DELETE', each, own)
    expect((await ask('GET', base, ids)).items).toEqual([])
    expect(JSON.stringify(await ask('GET', '/audit', {}))).not.toContain(made.signingSecret)
  })

  test('refusals and what their codes mean', async () => {
    const { appId, token } = two()
    const refusalId = await storeRefusal(database(), two())
    const get = (template: string, ids = {}) => ask('GET', template, ids, undefined, token)
    const { items } = await get(`/refusals?appId=${appId}&rule=AA24&code=-32507`)
    expect(items).toMatchObject([{ refusalId, code: -32_507, nonce: '7' }])
    expect(await get('/refusals/{refusalId}', { refusalId })).toEqual({
      ...items[0],
      data: { rule: 'AA24' },
      request: [{ nonce: '0x7' }],
      explanation: await get('/explain?code=AA24'),
    })
    expect((await admin('GET', '/explain?code=AA00', token)).status).toBe(404)
    await storeRefusal(database(), two())
    const newest = await get('/refusals?limit=1')
    expect((await get(`/refusals?before=${newest.next}`)).items).toEqual(items)
  })

  test('operations and what became of them', async () => {
    const { appId, token } = two()
    const userOpHash = await storeOperation(database(), appId)
    const get = (template: string, ids = {}) => ask('GET', template, ids, undefined, token)
    const { items } = await get(`/operations?appId=${appId}&state=dropped&code=EXPIRED`)
    expect(items).toMatchObject([{ userOpHash, maxCost: '9', reason: 'too late' }])
    const ids = { chainId: '31337', userOpHash }
    const whole = await get('/operations/{chainId}/{userOpHash}', ids)
    expect(whole).toMatchObject(items[0])
    expect(whole.timeline.map(({ kind }: Json) => kind)).toEqual(['received', 'dropped'])
    expect(whole.explanation).toEqual(await get('/explain?code=EXPIRED'))
    expect((await get(`/operations?before=31337:${userOpHash}`)).items).toEqual([])
  })

  test('the records of a chain whose node is away since the start are counted and found', async () => {
    const { appId, token } = two()
    const userOpHash = await storeOperation(database(), appId)
    const served = [...memoryChains]
    const chains = memoryChains as Map<number, ChainServices>
    chains.clear()
    try {
      const get = (template: string) => ask('GET', template, {}, undefined, token)
      expect(BigInt((await get('/overview?step=3600')).totals.dropped)).toBeGreaterThan(0n)
      expect((await get(`/search?q=${userOpHash}`)).items).toMatchObject([{ id: userOpHash }])
    } finally {
      for (const [chainId, services] of served) chains.set(chainId, services)
    }
  })

  test('records: decisions of all apps, overview, search, chains, budgets', async () => {
    const { appId, token } = two()
    const get = (template: string, ids = {}) => ask('GET', template, ids, undefined, token)
    const decisionId = await storeCall(database(), appId, randomUUID())
    const { items } = await get(`/decisions?appId=${appId}&code=WEBHOOK_DENIED&limit=1`)
    expect(items).toMatchObject([{ decisionId, appId, fate: 'none', actualCost: null }])
    // Each list takes the codes of the others.
    expect((await get('/decisions?code=AA25')).items).toEqual([])
    const decision = await get('/decisions/{decisionId}', { decisionId })
    expect(decision).toMatchObject({ ...items[0], webhookCalls: [{ outcome: 'denied' }] })
    expect(decision.explanation.code).toBe('WEBHOOK_DENIED')

    const overview = await get('/overview?chainId=31337')
    expect(BigInt(overview.totals.dropped)).toBeGreaterThan(0n)
    expect(overview.refusals).toContainEqual({ code: 'WEBHOOK_DENIED', count: expect.any(String) })
    expect((await admin('GET', '/overview?step=1', token)).status).toBe(400)
    const long = '/overview?from=2026-01-01T00:00:00Z&until=2026-03-01T00:00:00Z'
    expect((await admin('GET', long, token)).status).toBe(400)

    const hits = await get(`/search?q=${decisionId}`)
    expect(hits.items).toEqual([
      { kind: 'decision', id: decisionId, name: null, appId, chainId: null },
    ])
    expect((await admin('GET', `/search?q=${decisionId}`, one().token)).body.items).toEqual([])
    const [tank] = (await get(`/search?q=0x${'5'.repeat(40)}`)).items
    expect(tank).toMatchObject({ kind: 'sender', id: `0x${'5'.repeat(40)}` })

    const at = `0x${'7'.repeat(40)}` as const
    const other = await ask('POST', '/apps', {}, { name: 'another spender' }, token)
    const settled = (app: string, nonce: bigint, wasted: bigint | null) => ({
      app_id: app,
      chain_id: 31_337n,
      entry_point: at,
      sender: at,
      nonce,
      paymaster: at,
      max_cost: 9n,
      actual_cost: 7n,
      wasted,
      valid_until: 0n,
      state: 'settled' as const,
      created_at: new Date('2026-03-04T05:00:00Z'),
    })
    await database()
      .insertInto('reservations')
      .values([
        settled(appId, 7n, 2n),
        settled(appId, 8n, 3n),
        settled(appId, 9n, null),
        settled(other.id, 7n, null),
      ])
      .execute()
    const month = '?from=2026-01-01T00:00:00.000Z&until=2026-12-31T00:00:00.000Z'
    const spent = await get(`/spend${month}`)
    const line = { day: '2026-03-04', policyId: null }
    const lineOf = (app: string) =>
      spent.items.find((each: { appId: string }) => each.appId === app)
    expect(spent.items).toHaveLength(2)
    expect(lineOf(appId)).toMatchObject({
      ...line,
      ...{ wei: '21', operations: '3', wastedWei: '5', measured: '2' },
    })
    expect(lineOf(other.id)).toMatchObject({
      ...line,
      ...{ wei: '7', operations: '1', wastedWei: '0', measured: '0' },
    })
    expect(Date.parse(spent.keptSince)).toBeLessThan(Date.now())
    expect((await admin('GET', `/spend${month}`, one().token)).body.items).toEqual([])
    expect(
      (await admin('GET', '/spend?from=2024-01-01T00:00:00Z&until=2026-01-01T00:00:00Z', token))
        .status,
    ).toBe(400)

    const chains = await get('/chains')
    expect(chains.items[0]).toMatchObject({ name: 'Memory', coin: { symbol: 'ETH', usd: '3000' } })
    expect(chains.items[0].entryPoints).toHaveLength(4)
    const [{ chainId }] = chains.items
    const fees = await get('/apps/{appId}/fees/{chainId}', { appId, chainId })
    expect(fees).toMatchObject({ standard: { maxFeePerGas: '2' }, head: null, headAge: null })

    const terms = { budgets: [{ per: 'sender', limit: { count: 20 }, window: 'day' }] }
    const { policyId } = await ask('POST', '/policies', {}, { appId, name: 'b', terms }, token)
    await sql`insert into budget_counters (policy_id, budget, subject, bucket, used, settled)
      values (${policyId}, 'sender count day', '0xaa', 9999999999, 20, 3),
        (${policyId}, 'sender count day', '0xbb', 0, 9, 9)`.execute(database())
    const budgets = await get('/policies/{policyId}/budgets', { policyId })
    const DAY = 86_400
    const [{ since, until }] = budgets.items
    expect([since % DAY, until - since]).toEqual([0, DAY])
    expect(budgets.items).toMatchObject([
      { limit: '20', window: 'day', subjects: [{ subject: '0xaa', used: '20', settled: '3' }] },
    ])
    await ask('DELETE', '/policies/{policyId}', { policyId }, undefined, token)
  })

  test('records of the bundler, for the operator', async () => {
    const get = (template: string, ids = {}) => ask('GET', template, ids, undefined, operatorToken)
    const ids = { chainId: String([...memoryChains.keys()][0]) }
    await storeOperation(database(), two().appId, 'pooled')
    const pool = await get('/chains/{chainId}/pool', { chainId: '31337' })
    expect(Number(pool.pooled)).toBeGreaterThan(0)
    expect(pool.tips.p50).toBe(1)
    const { id } = await database()
      .insertInto('bundles')
      .values({
        chain_id: BigInt(ids.chainId),
        kind: 'filler',
        entry_point: null,
        executor: `0x${'9'.repeat(40)}`,
        nonce: 1n,
        state: 'signed',
        transaction_hash: null,
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const { items } = await get('/chains/{chainId}/bundles', ids)
    expect(items).toMatchObject([{ bundleId: String(id), kind: 'filler', attempts: 0 }])
    const whole = { ...ids, bundleId: String(id) }
    expect(await get('/chains/{chainId}/bundles/{bundleId}', whole)).toMatchObject(items[0])
    const other = { chainId: '5', bundleId: String(id) }
    const path = `/chains/${other.chainId}/bundles/${other.bundleId}`
    expect((await admin('GET', path, operatorToken)).status).toBe(404)
    await get('/chains/{chainId}/reputation', ids)
    expect((await get('/chains/{chainId}/nodes', ids)).items).toMatchObject([{ behind: false }])
    await get('/chains/{chainId}/executors', ids)
    const rehearsal = await get('/chains/{chainId}/rehearsal?fork=amsterdam', ids)
    expect(rehearsal).toMatchObject({ fork: 'amsterdam', recorded: '0', operations: [] })
  })

  test('an operation is taken back before it is in a bundle, and simulated without being kept', async () => {
    const { appId, token } = two()
    const userOpHash = await storeOperation(database(), appId, 'pooled')
    const ids = { chainId: '31337', userOpHash }
    const path = '/operations/{chainId}/{userOpHash}/cancel'
    const cancelled = await ask('POST', path, ids, {}, token)
    expect(cancelled.meaning).toMatch(/signature stays valid/)
    const whole = (await admin('GET', `/operations/31337/${userOpHash}`, token)).body
    expect(whole).toMatchObject({ state: 'dropped', code: 'CANCELLED' })
    expect(whole.reason).toBe('cancelled by the owner')
    const again = await admin('POST', `/operations/31337/${userOpHash}/cancel`, token, {})
    expect(again).toMatchObject({
      status: 409,
      body: { message: expect.stringMatching(/dropped/) },
    })

    const [chain] = [...memoryChains.values()]
    const body = {
      chainId: chain?.chainId,
      entryPoint: EXAMPLE_ENTRY_POINT,
      operation: exampleOperationJson,
    }
    const simulated = await ask('POST', '/apps/{appId}/simulate', { appId }, body, token)
    expect(simulated).toMatchObject({ accepted: true, explanation: null })
    const away = { ...body, chainId: 5 }
    expect((await admin('POST', `/apps/${appId}/simulate`, token, away)).status).toBe(404)
  })

  test('a policy is checked and tried before it binds anybody', async () => {
    const { appId, token } = one()
    const check = (body: unknown) => ask('POST', '/policies/check', {}, body)
    const well = { valid: true, errors: [], warnings: [] }
    const budgets = [{ per: 'sender', limit: { count: 5 }, window: 'day' }]
    expect(await check({ terms: { chains: [31_337], budgets } })).toEqual(well)
    expect(
      (await check({ terms: { chains: [5], validUntil: 9, budgets } })).warnings,
    ).toMatchObject([{ path: 'validUntil' }, { path: 'chains' }])
    const wrong = { maxFeePerGas: 'much', calls: { allow: [{ target: 'any', function: 5 }] } }
    const { errors } = await check({ terms: wrong })
    const paths = errors.map(({ path }: Json) => path)
    expect(paths).toEqual(['maxFeePerGas', 'calls.allow.0.function'])
    const ofAccount = { budgets: [{ per: 'account', limit: { count: 1 } }] }
    expect((await check({ terms: ofAccount })).errors).toMatchObject([{ path: 'budgets.0.per' }])
    expect(await check({ terms: ofAccount, of: 'account' })).toMatchObject({ valid: true })
    const many = { denySenders: Array(10_000).fill('nobody') }
    expect((await check({ terms: many })).errors).toHaveLength(100)

    const ofApp = { appId }
    const tried = (body: unknown) => ask('POST', '/apps/{appId}/policies/try', ofApp, body)
    for (let count = 0; count < 3; count++) await storeOperation(database(), appId, 'pooled')
    const last = { last: 3 }
    const nobody = { sponsored: 0, refused: 0, unasked: 3 }
    expect(await tried({ terms: {}, against: last })).toMatchObject({
      tried: 3,
      passed: 3,
      refused: [],
      before: nobody,
      verdicts: null,
      unevaluated: [],
    })

    // The counters of the policy that the draft would replace count where one operation is tried.
    const terms = { budgets: [{ per: 'app', limit: { count: 5 }, window: 'never' }] }
    const { policyId } = await ask('POST', '/policies', {}, { appId, name: 'budget', terms })
    const all = await ask('POST', '/policies', {}, { appId, name: 'all', terms: {} })
    const alongside = async (place: object) =>
      (await check({ terms, appId, ...place })).warnings
        .filter(({ path }: Json) => path !== 'budgets')
        .map(({ message }: Json) => message)
    expect(await alongside({})).toEqual([
      expect.stringContaining('the earlier policy all accepts every request'),
    ])
    expect(await alongside({ policyId })).toEqual([])
    expect(await alongside({ policyId, position: all.position + 1 })).toHaveLength(1)
    const foremost = { terms: {}, appId, position: 0, policyId: all.policyId }
    expect((await check(foremost)).warnings.map(({ message }: Json) => message)).toEqual([
      expect.stringContaining('restrict nothing'),
      expect.stringContaining('never reached (budget)'),
    ])
    await ask('DELETE', '/policies/{policyId}', { policyId: all.policyId })
    await sql`insert into budget_counters (policy_id, budget, subject, bucket, used, settled)
      values (${policyId}, 'app count never', ${appId}, 0, 5, 5)`.execute(database())
    const operation = {
      chainId: [...memoryChains.values()][0]?.chainId,
      entryPoint: EXAMPLE_ENTRY_POINT,
      operation: exampleOperationJson,
    }
    const spent = await tried({ policyId, against: { operation } })
    expect(spent.refused).toEqual([{ code: 'BUDGET_EXCEEDED', count: 1 }])
    expect(await tried({ terms, against: { operation } })).toMatchObject({ passed: 1 })
    await ask('DELETE', '/policies/{policyId}', { policyId })
    const expensive = await tried({ terms: { maxFeePerGas: '1' }, against: { operation } })
    const failing = expensive.verdicts.filter(({ passes }: Json) => !passes)
    expect(failing).toMatchObject([{ rule: 'fee', code: 'FEE_TOO_HIGH' }])

    const post = (body: unknown) => admin('POST', `/apps/${appId}/policies/try`, token, body)
    const foreign = await fillTenant(database(), two())
    for (const against of [{ refusalId: foreign.refusalId }, { decisionId: foreign.decisionId }])
      expect((await post({ terms: {}, against })).status).toBe(404)
    const foreignPolicy = { policyId: foreign.policyId, against: last }
    expect((await post(foreignPolicy)).status).toBe(404)
    const own = await storeRefusal(database(), one())
    expect((await post({ terms: {}, against: { refusalId: own } })).status).toBe(400)
    expect((await post({ against: last })).status).toBe(400)
    expect((await post({ terms: {}, against: { last: 501 } })).status).toBe(400)
    // One trial of an account at a time: the first waits for a lock while the second comes.
    const body = { terms: {}, against: { last: 500 } }
    const [first, second] = await database()
      .transaction()
      .execute(async (trx) => {
        await sql`lock table operations in access exclusive mode`.execute(trx)
        const waiting = post(body)
        await until(async () => {
          const { rows } = await sql`select from pg_locks
            where relation = 'operations'::regclass and not granted
              and database = (select oid from pg_database where datname = current_database())`.execute(
            trx,
          )
          return rows.length > 0
        })
        return [waiting, await post(body)] as const
      })
    expect(second).toMatchObject({
      status: 429,
      body: { message: expect.stringMatching(/Another policy trial/) },
    })
    expect((await first).status).toBe(200)
  })

  test('the audit log by filters, and as lines', async () => {
    const token = one().token
    const whole = (await admin('GET', '/audit?limit=200', token)).body.items
    const query = 'action=app.create&actor=account'
    const { items } = await ask('GET', `/audit?${query}`, {})
    expect(items).toEqual(
      whole.filter(({ action, actor }: Json) => action === 'app.create' && actor === 'account'),
    )
    expect(items.length).toBeGreaterThan(0)
    const { objectId } = items[0]
    const ofObject = (await ask('GET', `/audit?objectId=${objectId}`, {})).items
    expect(new Set(ofObject.map((entry: Json) => entry.objectId))).toEqual(new Set([objectId]))
    const exported = await admin('GET', '/audit/export', token)
    expect(exported.headers.get('content-type')).toContain('ndjson')
    const lines = String(exported.body).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(whole)
  })

  test('policies and decisions', async () => {
    const { appId } = one()
    const terms = { budgets: [{ per: 'sender', limit: { usd: '1.50' }, window: 'day' }] }
    const made = await ask('POST', '/policies', {}, { appId, name: 'p', terms })
    expect(made).toMatchObject({ appId, name: 'p', active: true, terms })
    const ids = { policyId: made.policyId }
    expect(await ask('GET', '/policies/{policyId}', ids)).toEqual(made)
    const changed = await ask('PATCH', '/policies/{policyId}', ids, { active: false })
    expect(changed).toMatchObject({ active: false, terms })
    expect((await ask('GET', `/policies?appId=${appId}`, {})).items).toEqual([changed])
    await ask('DELETE', '/policies/{policyId}', ids)
    const bad = { appId, name: 'p', terms: { budgets: [{ per: 'nobody' }] } }
    expect((await admin('POST', '/policies', one().token, bad)).status).toBe(400)
    const foreign = { appId: two().appId, name: 'p' }
    expect((await admin('POST', '/policies', one().token, foreign)).status).toBe(400)

    const [older, newer] = [
      await storeCall(database(), appId, randomUUID()),
      await storeCall(database(), appId, randomUUID()),
    ]
    const own = { appId, decisionId: newer }
    const single = await ask('GET', '/apps/{appId}/decisions/{decisionId}', own)
    expect(single).toMatchObject({ code: 'WEBHOOK_DENIED', webhookCalls: [{ outcome: 'denied' }] })
    const base = '/apps/{appId}/decisions'
    const list = async (query: string): Promise<string[]> => {
      const { items } = await ask('GET', `${base}?${query}`, { appId })
      return items.map(({ decisionId }: Json) => decisionId)
    }
    expect(await list('limit=1')).toEqual([newer])
    expect(await list(`before=${newer}`)).toEqual([older])
    expect(await list('sponsored=false&code=WEBHOOK_DENIED&chainId=31337')).toEqual([newer, older])
    expect(await list(`sender=0x${'5'.repeat(40)}&from=2020-01-01T00:00:00Z`)).toHaveLength(2)
    for (const none of ['sponsored=true', 'chainId=1', 'code=X', `policyId=${randomUUID()}`])
      expect(await list(none)).toEqual([])
    expect(await list('until=2020-01-01T00:00:00Z')).toEqual([])
  })

  test('people: users, sessions, members, invitations and tokens', async () => {
    const { account: own, authToken: token } = (
      await admin('POST', '/accounts', operatorToken, { name: 'people' })
    ).body
    const accountId = own.id
    const browser = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
    const as = (by: string | Readonly<Record<string, string>>) => ({
      ask: (method: string, template: string, body?: unknown, ids = {}) =>
        ask(method, template, ids, body, by),
    })
    const operator = as(operatorToken)
    const account = as(token)
    const stranger = as(browser)
    const signIn = async (email: string, password: string) => {
      const answer = await send('POST', '/session', browser, { email, password })
      const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
      return { ...browser, cookie, 'purser-account': accountId }
    }

    const made = await operator.ask('POST', '/users', { email: 'Ann@Example.com', name: 'Ann' })
    expect(made.user).toMatchObject({ email: 'ann@example.com', hasPassword: false })
    const first = 'correct horse battery staple'
    const chosen = { token: made.token, password: first }
    expect(await stranger.ask('POST', '/invitations/accept', chosen)).toMatchObject({
      id: made.user.id,
    })
    const begun = await stranger.ask('POST', '/session', {
      email: 'ann@example.COM',
      password: first,
    })
    expect(begun.session).toMatchObject({ ip: '127.0.0.1' })
    const ann = as(await signIn('ann@example.com', first))
    expect((await ann.ask('GET', '/session')).memberships).toEqual([])
    const sessions = (await ann.ask('GET', '/sessions')).items
    expect(sessions.map(({ isThis }: Json) => isThis)).toEqual([true, false])
    await ann.ask('DELETE', '/sessions/{sessionId}', undefined, { sessionId: begun.session.id })
    expect((await ann.ask('GET', '/sessions')).items).toHaveLength(1)

    const offer = { email: 'ann@example.com', role: 'developer' }
    const invited = await account.ask('POST', '/invitations', offer)
    const withdrawn = await account.ask('POST', '/invitations', {
      ...offer,
      email: 'b@example.com',
    })
    expect((await account.ask('GET', '/invitations')).items).toHaveLength(2)
    const { id: invitationId } = withdrawn.invitation
    await account.ask('DELETE', '/invitations/{invitationId}', undefined, { invitationId })
    const accepted = { token: invited.token, password: first }
    await stranger.ask('POST', '/invitations/accept', accepted)
    const userIds = { userId: made.user.id }
    expect((await account.ask('GET', '/members')).items).toMatchObject([{ role: 'developer' }])
    expect((await ann.ask('GET', '/session')).memberships).toMatchObject([{ accountId }])
    await account.ask('PATCH', '/members/{userId}', { role: 'viewer' }, userIds)
    expect(await ann.ask('GET', '/apps')).toEqual({ items: [] })

    const second = 'another horse, another battery'
    await ann.ask('POST', '/password', { current: first, password: second })
    const reset = await operator.ask('POST', '/users/{userId}/password', undefined, userIds)
    const third = 'a third horse of the operator'
    await stranger.ask('POST', '/invitations/accept', { token: reset.token, password: third })
    const again = as(await signIn('ann@example.com', third))
    await again.ask('DELETE', '/session')
    const credentials = { apiKey: 'pk.shown', authToken: 'at.shown' }
    const link = { token: signInLinks.offer({ userId: made.user.id, credentials }) }
    expect(await stranger.ask('POST', '/session/link', link)).toMatchObject({ credentials })
    await account.ask('DELETE', '/members/{userId}', undefined, userIds)
    const disabled = await operator.ask('PATCH', '/users/{userId}', { isDisabled: true }, userIds)
    expect((await operator.ask('GET', '/users')).items).toContainEqual(disabled)

    const expiresAt = '2099-01-01T00:00:00.000Z'
    const named = await account.ask('POST', '/auth-tokens', {
      name: 'ci',
      role: 'viewer',
      expiresAt,
    })
    expect(named.token).toMatchObject({ last4: named.authToken.slice(-4), expiresAt })
    await as(named.authToken).ask('GET', '/apps')
    const tokens = (await account.ask('GET', '/auth-tokens')).items
    expect(tokens).toMatchObject([{ isFirst: true, role: 'admin' }, { name: 'ci' }])
    expect(tokens[1].lastUsedAt).not.toBeNull()
    const tokenIds = { tokenId: named.token.id }
    await account.ask('DELETE', '/auth-tokens/{tokenId}', undefined, tokenIds)

    const audit = await operator.ask('GET', '/audit?limit=200')
    const actions = audit.items.map(({ action }: Json) => action)
    for (const action of ['user.create', 'user.update', 'user.password', 'session.create'])
      expect(actions).toContain(action)
    const text = JSON.stringify(audit)
    for (const secret of [first, second, third, made.token, invited.token, named.authToken])
      expect(text).not.toContain(secret)
    const rows = await Promise.all([
      database().selectFrom('users').selectAll().execute(),
      database().selectFrom('sessions').selectAll().execute(),
      database().selectFrom('invitations').selectAll().execute(),
      database().selectFrom('auth_tokens').selectAll().execute(),
    ])
    for (const secret of [first, third, named.authToken, withdrawn.token])
      expect(JSON.stringify(rows)).not.toContain(secret)
  })
})

test('the audit log is read in pages', async () => {
  const whole = (await admin('GET', '/audit?limit=200', operatorToken)).body.items
  const first = (await admin('GET', '/audit?limit=2', operatorToken)).body
  const second = (await admin('GET', `/audit?limit=2&before=${first.next}`, operatorToken)).body
  expect([...first.items, ...second.items]).toEqual(whole.slice(0, 4))
  expect((await admin('GET', `/audit?before=${whole.at(-1).id}`, operatorToken)).body).toEqual({
    items: [],
  })
})

test('refusals say what is wrong and carry the id of the request', async () => {
  const { appId, token } = one()
  const refused = await admin('POST', `/apps/${appId}/keys`, token, { name: 'k', scopes: ['root'] })
  expect(refused).toMatchObject({
    status: 400,
    body: { statusCode: 400, message: expect.stringMatching(/^scopes\.0 /) },
  })
  expect(refused.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  const unknown = await admin('POST', '/apps', token, { name: 'k', admin: true })
  expect(unknown).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('admin') },
  })
  expect((await admin('GET', '/nothing', token)).status).toBe(404)
  const late = { name: 'k', expiresAt: '2020-01-01T00:00:00.000Z' }
  expect((await admin('POST', `/apps/${appId}/keys`, token, late)).status).toBe(400)
})

test('an answer with one member more or less than the document says is found', () => {
  const asked = { method: 'GET', path: '/me' }
  const body = { id: randomUUID(), name: 'x', createdAt: new Date().toISOString(), revokedAt: null }
  const { name: _, ...nameless } = body
  expectDocumented(asked, { status: 200, body })
  for (const wrong of [{ ...body, secret: 'x' }, nameless, { ...body, revokedAt: 5 }])
    expect(() => expectDocumented(asked, { status: 200, body: wrong })).toThrow()
  expect(() => expectDocumented(asked, { status: 201, body })).toThrow()
  expect(() => expectDocumented(asked, { status: 404, body: { error: 'x' } })).toThrow()
})

test('the document is served as it is, without a token', async () => {
  const response = await fetch(`${url()}/admin/v1/openapi.json`)
  expect(await response.json()).toEqual(JSON.parse(JSON.stringify(document)))
  expect(document.openapi).toBe('3.1.0')
  // The official schema of OpenAPI 3.1.
  expect(await new Validator().validate(document)).toMatchObject({ valid: true })
})

test('metrics are for the operator', async () => {
  expect((await call('GET', '/metrics', undefined)).status).toBe(401)
  expect((await call('GET', '/metrics', one().token)).status).toBe(401)
  const { status, body } = await call('GET', '/metrics', operatorToken)
  expect(status).toBe(200)
  expect(body).toContain('purser_rest_requests_total{route="POST /apps",status="201"}')
  expect(body).toContain('process_cpu_seconds_total')
})

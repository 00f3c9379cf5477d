import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/api/admin/routeTable.js'
import { listAudit } from '../../src/tenants/audit.js'
import { fillTenant, type TenantObjects } from '../support/database/fillTenant.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'

const { admin, send, database, lookInto, one, two } = useAdmin()

let ids: TenantObjects
beforeAll(async () => {
  ids = await fillTenant(database(), one())
})

const ofAccounts = routes.filter(({ who }) => who === 'account')
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const pathOf = (path: string) => path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? '')

describe('the operator in the place of an account', () => {
  const reads = ofAccounts.filter(({ method }) => method === 'GET')
  test.each(reads.map(({ path }) => path))(
    'reads %s as the account does, in the log',
    async (path) => {
      const asAccount = await admin('GET', pathOf(path), one().token)
      const asOperator = await lookInto(one().accountId, pathOf(path))
      expect(asOperator.status).toBe(200)
      expect(asOperator.body).toEqual(asAccount.body)
      const page = { limit: 1, before: undefined }
      const { items } = await listAudit(database(), one().accountId, page)
      expect(items[0]).toMatchObject({
        action: 'account.look',
        actor: 'operator',
        object_id: one().accountId,
        after: { path: `/admin/v1${pathOf(path)}` },
      })
    },
  )

  const changes = ofAccounts.filter(({ method }) => method !== 'GET')
  test.each(changes.map(({ method, path }) => [method, path] as const))(
    'may not %s %s',
    async (method, path) => {
      const headers = { ...bearer(operatorToken), 'purser-account': one().accountId }
      const answer = await send(method, pathOf(path), headers, {})
      expect(answer.status).toBe(403)
    },
  )

  test('finds no account that is not there, and no app of another account', async () => {
    for (const accountId of ['x', ids.appId ?? ''])
      expect((await lookInto(accountId, '/apps')).status).toBe(404)
    expect((await lookInto(two().accountId, `/apps/${one().appId}`)).status).toBe(404)
  })

  test('is nobody else: an account that sends the header finds no account but its own', async () => {
    const headers = (accountId: string) => ({ ...bearer(two().token), 'purser-account': accountId })
    expect((await send('GET', '/me', headers(one().accountId))).status).toBe(404)
    expect((await send('GET', '/me', headers(two().accountId))).body.id).toBe(two().accountId)
  })
})

describe('mode and credit', () => {
  const funds = (chainId: number | string) => `/apps/${one().appId}/funds/${chainId}`
  const credit = (wei: string, reference: string, chainId = 31_337) =>
    admin('POST', `${funds(chainId)}/credit`, operatorToken, { wei, reference })

  test('are set by the operator, for any app', async () => {
    expect(
      (await admin('PATCH', `${funds(31_337)}/mode`, operatorToken, { mode: 'shared' })).body,
    ).toMatchObject({ mode: 'shared' })
    expect((await credit('100', 'first')).body.credit).toEqual({
      balance: '100',
      locked: '0',
      available: '100',
    })
  })

  test('a reference counts once; what is spent or was never there is not taken', async () => {
    expect((await credit('100', 'first')).body.credit.balance).toBe('100')
    expect((await credit('99', 'first')).body.message).toContain('already used for 100 wei')
    expect((await credit('-101', 'back')).status).toBe(400)
    expect((await credit('-40', 'back')).body.credit.available).toBe('60')
  })

  test('are changed without a look at what the app spent, which holds up its sponsorships', async () => {
    const set = () => admin('PATCH', `${funds(31_337)}/mode`, operatorToken, { mode: 'native' })
    const answers = await database()
      .transaction()
      .execute(async (trx) => {
        await sql`lock table reservations in access exclusive mode`.execute(trx)
        const changes = (async () => [await credit('7', 'more'), await set()])()
        return Promise.race([changes, sleep(60_000, [], { ref: false })])
      })
    expect(answers.map(({ body }) => body)).toMatchObject([
      { mode: 'shared', credit: { balance: '67' } },
      { mode: 'native', credit: { balance: '67' } },
    ])
  })

  test.each(['0', '', '1.5', '1e3', '9'.repeat(31)])('%j is no credit', async (wei) => {
    expect((await credit(wei, 'wrong')).status).toBe(400)
  })

  test('a chain that is not configured has no funds', async () => {
    expect((await credit('1', 'elsewhere', 31_338)).body.message).toContain('31337')
  })
})

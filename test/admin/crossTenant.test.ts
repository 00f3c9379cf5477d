import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { routes } from '../../src/api/admin/routeTable.js'
import type { Route } from '../../src/tenants/route.js'
import { fillTenant, type TenantObjects } from '../support/database/fillTenant.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'

const { admin, database, one, two } = useAdmin()

let ofOne: TenantObjects
let ofTwo: TenantObjects
beforeAll(async () => {
  ofOne = await fillTenant(database(), one())
  ofTwo = await fillTenant(database(), two())
})

/** The path of a route with these ids. */
function pathOf(path: string, ids: TenantObjects): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const id = ids[name]
    if (id === undefined) throw new Error(`fillTenant makes no ${name}`)
    return id
  })
}

/** A body that the route would take, where one without members is none. */
function bodyOf({ method, path }: Route) {
  if (method === 'GET') return undefined
  return path === '/members/{userId}' && method === 'PATCH' ? { role: 'developer' } : {}
}

/**
 * All rows of accounts, apps and people; the time of a token's last use, which each minute's first request writes, is none
 * of what is compared.
 */
async function snapshot() {
  const tables = await sql<{ name: string }>`select distinct table_name as name
    from information_schema.columns where table_schema = current_schema()
      and (column_name in ('account_id', 'app_id', 'user_id', 'subscription_id')
        or table_name in ('accounts', 'users'))
    order by 1`.execute(database())
  expect(tables.rows.map(({ name }) => name)).toEqual(expect.arrayContaining(['keys', 'sessions']))
  return Promise.all(
    tables.rows.map(async ({ name }) => {
      const { rows } = await sql<object>`select * from ${sql.table(name)}`.execute(database())
      return rows.map((row) => ({ ...row, last_used_at: undefined }))
    }),
  )
}

/** What users do about themselves, and what anybody may, is in `roles.test.ts` and `signIn.test.ts`. */
const ofAccounts = routes.filter(({ who }) => who !== 'user' && who !== 'anybody')
const named = ofAccounts.map((route) => [`${route.method} ${route.path}`, route] as const)

describe.each(named)('%s', (_, route) => {
  test('answers 401 without a token and with a wrong one', async () => {
    const path = pathOf(route.path, ofOne)
    expect((await admin(route.method, path, undefined)).status).toBe(401)
    expect((await admin(route.method, path, 'at.wrong')).status).toBe(401)
  })

  if (route.who === 'operator')
    test('is closed to accounts', async () => {
      expect((await admin(route.method, pathOf(route.path, ofOne), one().token)).status).toBe(403)
    })
  else
    test('shows a stranger nothing and changes nothing for him', async () => {
      const before = await snapshot()
      const own = Object.values(ofOne).filter((id) => id !== ofOne.chainId)
      const answer = await admin(
        route.method,
        pathOf(route.path, ofOne),
        two().token,
        bodyOf(route),
      )
      if (route.path.includes('{')) {
        expect(answer.status).toBe(404)
        expect(await snapshot()).toEqual(before)
      }
      for (const id of own) expect(JSON.stringify(answer.body)).not.toContain(id)
    })

  if (route.who === 'account')
    test('is not for the operator, who owns nothing', async () => {
      const answer = await admin(route.method, pathOf(route.path, ofOne), operatorToken)
      expect(answer.status).toBe(403)
    })

  const inner = [...route.path.matchAll(/\{(\w+)\}/g)]
    .map(([, name = '']) => name)
    // A chain is nobody's object.
    .filter((name) => name !== 'chainId')
  if (inner.includes('appId') && inner.length > 1)
    test("does not find a stranger's objects, or none, under one's own app", async () => {
      const before = await snapshot()
      for (const ids of [
        { ...ofOne, appId: ofTwo.appId ?? '' },
        {
          ...Object.fromEntries(inner.map((name) => [name, randomUUID()])),
          appId: ofTwo.appId ?? '',
        },
        { ...Object.fromEntries(inner.map((name) => [name, '0'])), appId: ofTwo.appId ?? '' },
      ]) {
        const answer = await admin(
          route.method,
          pathOf(route.path, ids),
          two().token,
          bodyOf(route),
        )
        expect(answer.status).toBe(404)
      }
      expect(await snapshot()).toEqual(before)
    })
})

import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { routes } from '../../src/api/admin/routeTable.js'
import type { Resource } from '../../src/tenants/resource.js'
import { fillTenant } from '../support/database/fillTenant.js'
import { leastBody } from '../support/http/leastBody.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'

type AnyResource = Resource<'keys', z.ZodObject>

const source = new URL('../../src/', import.meta.url)
const declaring = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (file) =>
    file.endsWith('.ts') && /= resource\(\{/.test(readFileSync(new URL(file, source), 'utf8')),
)
const modules = await Promise.all(
  declaring.map(async (file) => {
    const module: Readonly<Record<string, unknown>> = await import(new URL(file, source).href)
    const found = Object.values(module).filter(
      (value): value is AnyResource =>
        typeof value === 'object' && value !== null && 'table' in value && 'shown' in value,
    )
    return { file, found }
  }),
)
const resources = modules.flatMap(({ found }) => found)

test('every resource is exported by its file, and has a limit or something else that bounds it', () => {
  for (const { file, found } of modules)
    expect({ file, count: found.length }).toEqual({ file, count: 1 })
  const unlimited = resources.filter(({ limit }) => limit === undefined)
  expect(unlimited.map(({ name }) => name).sort()).toEqual([
    // Made by the operator.
    'account',
    // One for each app and chain.
    'fund',
    // A hundred of each app and account, and 1 MB of terms: test/attacks/fatTenant.test.ts.
    'policy',
    // Ended by time, and counted where users sign in.
    'session',
    // Made by the operator, or by one who accepts an invitation.
    'user',
  ])
})

const limited = resources.flatMap(({ limit, ...kind }) =>
  limit === undefined ? [] : [[kind.name, { ...kind, limit }] as const],
)

const { admin, database } = useAdmin()

describe.each(limited)('%s', (name, { table, limit }) => {
  const { most, counted = sql`true` } = limit

  test('is made until its owner has as many as it may, whatever comes at once; ended ones do not count', async () => {
    const route = routes.find(
      ({ method, path }) => method === 'POST' && new RegExp(`/(auth-)?${name}s$`).test(path),
    )
    if (route === undefined) throw new Error(`no route makes a ${name}`)
    const { account, authToken: token } = (
      await admin('POST', '/accounts', operatorToken, { name })
    ).body
    const app = (await admin('POST', '/apps', token, { name })).body
    const tenant = { accountId: account.id, appId: app.id, token }
    const ids = await fillTenant(database(), tenant)
    const ownerId = tenant[`${limit.of}Id`]
    const owner = sql`${sql.ref(`${limit.of}_id`)} = ${ownerId}`
    const count = async (condition = sql`true`): Promise<number> => {
      const { rows } = await sql<{ count: number }>`select count(*)::integer as count
        from ${sql.table(table)} where ${owner} and ${condition}`.execute(database())
      return rows[0]?.count ?? 0
    }
    /** Rows like the one that is there. */
    const copy = (times: number, columns = sql`'{}'::jsonb`) =>
      sql`insert into ${sql.table(table)}
        select (jsonb_populate_record(t, jsonb_build_object('id', gen_random_uuid(),
          'hash', '\\x' || encode(uuid_send(gen_random_uuid()), 'hex'),
          'token_hash', '\\x' || encode(uuid_send(gen_random_uuid()), 'hex'),
          'email', gen_random_uuid() || '@example.com') || ${columns})).*
        from ${sql.table(table)} t, generate_series(1, ${times}::integer)
        where t.id = (select id from ${sql.table(table)} where ${owner} and ${counted} limit 1)`.execute(
        database(),
      )
    if (limit.counted !== undefined)
      await copy(
        3,
        sql`jsonb_build_object('revoked_at', now(), 'expires_at', now() - interval '1 day')`,
      )
    await copy(most - 1 - (await count(counted)))
    expect(await count(counted)).toBe(most - 1)

    const path = route.path.replace(/\{(\w+)\}/g, (_, param: string) => ids[param] ?? '')
    const answers = await Promise.all(
      Array.from({ length: 4 }, (_, index) => {
        const body = leastBody(route)
        const email = `${name}${index}@example.com`
        return admin('POST', path, token, { ...body, ...(body?.email && { email }) })
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400, 400])
    for (const { status, body } of answers)
      if (status === 400)
        expect(body.message).toBe(
          `This ${limit.of} has ${most} ${limit.noun}, the most it may have. Delete one first.`,
        )
    expect(await count(counted)).toBe(most)
    if (limit.counted !== undefined) expect(await count()).toBe(most + 3)
  })
})

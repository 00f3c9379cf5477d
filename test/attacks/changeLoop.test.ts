import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { listApps } from '../../src/tenants/apps.js'
import { useAdmin } from '../support/http/useAdmin.js'

/*
 * The attacker makes and ends apps in a loop over HTTP. None of them counts as live, but each leaves a row and two
 * entries of the audit log for ever. Before: as many as requests were sent. Now: a thousand changes a day.
 */

const { admin, database, one, two } = useAdmin()

const CHANGES = 1_000
/** Changes of the day that are there before the loop, to spare the time for them. */
const MADE = 960

test('a tenant that changes itself in a loop is stopped, others are not', async () => {
  const { accountId, token } = one()
  await sql`insert into audit_log (at, actor, action, object_id, account_id, hash)
    select now(), 'account', 'app.create', '', ${accountId}, '' from generate_series(1, ${MADE})`.execute(
    database(),
  )
  const before = (await listApps(database(), accountId)).length
  const statuses: number[] = []
  for (let i = 0; i < CHANGES; i++) {
    const made = await admin('POST', '/apps', token, { name: 'loop' })
    statuses.push(made.status)
    if (made.status !== 201) {
      expect(made).toMatchObject({
        status: 429,
        body: { message: expect.stringMatching(/limit of changes per day: 1,000/) },
      })
      expect(Number(made.headers.get('retry-after'))).toBeGreaterThan(86_000)
      break
    }
    expect((await admin('DELETE', `/apps/${made.body.id}`, token)).status).toBe(200)
  }
  const apps = (CHANGES - MADE) / 2
  expect(statuses).toEqual([...Array(apps).fill(201), 429])
  expect(await listApps(database(), accountId)).toHaveLength(before + apps)
  expect((await admin('GET', '/apps', token)).status).toBe(200)
  expect((await admin('POST', '/apps', two().token, { name: 'other' })).status).toBe(201)
})

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { audited, findBrokenAudit, listAudit } from '../../src/tenants/audit.js'
import { testActor } from '../support/actor.js'
import { useDatabase } from '../support/database/database.js'

const shared = useDatabase()
const entry = { action: 'app.create', objectId: 'x', accountId: null, appId: null }

function write(after: unknown) {
  return audited(shared().database, testActor, ({ record }) => record({ ...entry, after }))
}

test('entries chain, also when many write at once', async () => {
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => write({ z: n, a: [{ y: 1n, b: new Date(0) }] })),
  )
  expect(await findBrokenAudit(shared().database)).toBeUndefined()
  const { items } = await listAudit(shared().database, undefined, { limit: 1, before: undefined })
  expect(items[0]?.after).toMatchObject({ a: [{ y: '1', b: '1970-01-01T00:00:00.000Z' }] })
})

test('a change that fails leaves no entry', async () => {
  const { database } = shared()
  const count = async () =>
    (await listAudit(database, undefined, { limit: 200, before: undefined })).items.length
  const before = await count()
  await expect(
    audited(database, testActor, async ({ record }) => {
      await record(entry)
      throw new Error('changed its mind')
    }),
  ).rejects.toThrow('changed its mind')
  expect(await count()).toBe(before)
})

test('the database refuses to change or delete entries', async () => {
  const { database } = shared()
  await write(1)
  for (const statement of [
    sql`update audit_log set actor_id = 'me'`,
    sql`delete from audit_log`,
    sql`truncate audit_log`,
  ])
    await expect(statement.execute(database)).rejects.toThrow('append-only')
})

test('what was changed past the trigger is found', async () => {
  const { database } = shared()
  await write('secret plan')
  await write('later')
  const { items } = await listAudit(database, undefined, { limit: 2, before: undefined })
  const changed = items[1]?.id
  await database.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx)
    await sql`update audit_log set action = 'nothing' where id = ${changed}`.execute(trx)
  })
  expect(await findBrokenAudit(database)).toBe(changed)
})

import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { LeaseLostError } from '../../src/base/errors/processErrors.js'
import { openDatabase } from '../../src/db/database.js'
import { fencedDatabase } from '../../src/db/fencedDatabase.js'
import {
  findLease,
  giveUpLease,
  LEASES_CHANNEL,
  type Lease,
  renewLease,
  takeLease,
} from '../../src/db/leases.js'
import { listen } from '../../src/db/notifications.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

const shared = useDatabase()
const minute = 60_000
let names = 0
function newName() {
  return `test ${++names}`
}

/** Lets the time of a lease pass, by the database's clock. */
async function letExpire(name: string): Promise<void> {
  await sql`update leases set expires_at = clock_timestamp() where name = ${name}`.execute(
    shared().database,
  )
}

async function take(name: string, holder: string): Promise<Lease> {
  const lease = await takeLease(shared().database, name, holder, minute)
  if (!lease) throw new Error(`${name} is held`)
  return lease
}

test('of many that want a lease at once one gets it, and the next one a greater token', async () => {
  const { database } = shared()
  const name = newName()
  const wanted = () =>
    Promise.all(['a', 'b', 'c', 'd'].map((holder) => takeLease(database, name, holder, minute)))
  const [first, ...others] = (await wanted()).filter((lease) => lease !== undefined)
  expect(others).toEqual([])
  await letExpire(name)
  const [second, ...rest] = (await wanted()).filter((lease) => lease !== undefined)
  expect(rest).toEqual([])
  expect(second!.token).toBe(first!.token + 1n)
  expect(await findLease(database, name, minute)).toMatchObject({ holder: second!.holder })
})

test('a lease that is late is kept by renewing it, one that was taken is not', async () => {
  const { database } = shared()
  const lease = await take(newName(), 'a')
  await letExpire(lease.name)
  expect(await renewLease(database, lease, minute)).toBe(true)
  expect(await takeLease(database, lease.name, 'b', minute)).toBeUndefined()
  await letExpire(lease.name)
  const next = await take(lease.name, 'b')
  expect(await renewLease(database, lease, minute)).toBe(false)
  await giveUpLease(database, lease)
  expect((await findLease(database, lease.name, minute))!.remaining).toBeGreaterThan(0)
  expect(await renewLease(database, next, minute)).toBe(true)
})

test('a lease that is given up is free at once, and the candidates hear of it', async () => {
  const { database, connection } = shared()
  const heard: string[] = []
  const listener = await listen(connection, LEASES_CHANNEL, silent, (name) => heard.push(name))
  const lease = await take(newName(), 'a')
  await giveUpLease(database, lease)
  expect((await findLease(database, lease.name, minute))!.remaining).toBeLessThan(0)
  expect((await take(lease.name, 'b')).token).toBe(lease.token + 1n)
  await until(async () => heard.includes(lease.name))
  await listener.close()
})

test('what a holder writes after another took over is not written, however it writes', async () => {
  const { database } = shared()
  const lease = await take(newName(), 'a')
  let lost = 0
  const fenced = fencedDatabase(database, lease, () => {
    lost += 1
  })
  const account = (name: string) => fenced.insertInto('accounts').values({ name })
  const names = async () => {
    const rows = await fenced.selectFrom('accounts').select('name').orderBy('name').execute()
    return rows.map(({ name }) => name)
  }
  await account('alone').execute()
  await fenced.transaction().execute((trx) => trx.executeQuery(account('in a transaction')))
  await sql`update accounts set name = 'by hand' where name = 'alone'`.execute(fenced)
  expect(await names()).toEqual(['by hand', 'in a transaction'])

  await letExpire(lease.name)
  await account('late, but nobody else came').execute()
  await take(lease.name, 'b')
  const before = await names()
  const writes = [
    () => account('too late').execute(),
    () => fenced.transaction().execute((trx) => trx.executeQuery(account('too late'))),
    () => fenced.transaction().execute(async () => undefined),
    () => fenced.updateTable('accounts').set({ name: 'too late' }).execute(),
    () => fenced.deleteFrom('accounts').execute(),
    () => sql`delete from accounts`.execute(fenced),
    () =>
      fenced
        .with('gone', (db) => db.deleteFrom('accounts').returning('id'))
        .selectFrom('gone')
        .selectAll()
        .execute(),
  ]
  for (const write of writes) await expect(write()).rejects.toBeInstanceOf(LeaseLostError)
  expect(lost).toBe(writes.length)
  const { rows } = await sql<{ ok: number }>`
    select 1 as ok`.execute(fenced)
  expect(rows).toEqual([{ ok: 1 }])
  expect(lost).toBe(writes.length)
  expect(await names()).toEqual(before)
})

test('nobody takes over while the holder is inside a transaction', async () => {
  const { database, connection } = shared()
  const lease = await take(newName(), 'a')
  const other = openDatabase(connection, silent, { size: 1 })
  const order: string[] = []
  let taken: Promise<unknown> = Promise.resolve()
  await fencedDatabase(database, lease, () => {})
    .transaction()
    .execute(async (trx) => {
      // It waits for the row of the lease, which the transaction holds.
      taken = until(() => takeLease(other, lease.name, 'b', minute)).then(() => order.push('taken'))
      await until(async () => {
        const { rows } = await sql`select from pg_stat_activity
          where wait_event_type = 'Lock' and query ilike '%leases%'
            and datname = current_database()`.execute(database)
        return rows.length > 0
      })
      await sql`select 1`.execute(trx)
      order.push('written')
    })
  await letExpire(lease.name)
  await taken
  expect(order).toEqual(['written', 'taken'])
  await other.destroy()
})

test('a session whose transaction failed can be used again', async () => {
  const { connection } = shared()
  const single = openDatabase(connection, silent, { size: 1 })
  const lease = await take(newName(), 'a')
  const fenced = fencedDatabase(single, lease, () => {})
  await expect(sql`insert into nowhere values (1)`.execute(fenced)).rejects.toThrow('nowhere')
  await expect(
    fenced.transaction().execute(async () => {
      throw new Error('changed my mind')
    }),
  ).rejects.toThrow('changed my mind')
  const { rows } = await sql<{ ok: number }>`select 1 as ok`.execute(fenced)
  expect(rows).toEqual([{ ok: 1 }])
  await single.destroy()
})

test('a lease that ends later than anybody can have set it is free: the clock was ahead', async () => {
  const { database } = shared()
  const { name, token } = await take(newName(), 'a')
  const move = (ahead: string) =>
    sql`update leases set expires_at = clock_timestamp() + ${ahead}::interval where name = ${name}`.execute(
      database,
    )
  await move('110 seconds')
  expect(await takeLease(database, name, 'b', minute)).toBeUndefined()
  expect((await findLease(database, name, minute))!.remaining).toBeGreaterThan(0)
  await move('1 day')
  expect((await findLease(database, name, minute))!.remaining).toBeLessThanOrEqual(0)
  expect(await takeLease(database, name, 'b', minute)).toMatchObject({ token: token + 1n })
  expect((await findLease(database, name, minute))!.remaining).toBeGreaterThan(0)
})

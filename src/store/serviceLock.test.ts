import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { useDatabase } from '../../test/support/database.js'
import { acquireServiceLock } from './serviceLock.js'

const shared = useDatabase()
const acquire = () => acquireServiceLock(shared().connection)

test('has one holder at a time', async () => {
  const held = (await Promise.all([acquire(), acquire(), acquire()])).filter(Boolean)
  expect(held).toHaveLength(1)
  await held[0]!.release()
  const next = await acquire()
  expect(next).toBeDefined()
  await next!.release()
})

test('tells its holder when it is lost, and is free again', async () => {
  const lock = await acquire()
  await sql`select pg_terminate_backend(pid, 5000) from pg_locks
    where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`.execute(
    shared().database,
  )
  await lock!.lost
  const next = await acquire()
  expect(next).toBeDefined()
  await next!.release()
})

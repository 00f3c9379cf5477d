import { sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { clientConfig } from '../../src/db/database.js'
import { holdServiceLock } from '../../src/db/embedded/serviceLock.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

const shared = useDatabase()
function hold() {
  return holdServiceLock(shared().connection, silent)
}

/** Process ids of the sessions that hold the lock on this database. */
async function holders(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_locks
    where locktype = 'advisory' and granted and classid <> 0
      and database = (select oid from pg_database where datname = current_database())`.execute(
    shared().database,
  )
  return rows.map(({ pid }) => pid)
}

async function terminateHolder(): Promise<void> {
  const [pid] = await holders()
  await sql`select pg_terminate_backend(${pid}::int, 5000)`.execute(shared().database)
}

test('has one holder at a time', async () => {
  const held = (await Promise.all([hold(), hold(), hold()])).filter(Boolean)
  expect(held).toHaveLength(1)
  await held[0]!.release()
  const next = await hold()
  expect(next).toBeDefined()
  await next!.release()
})

test('is taken again when its session broke', async () => {
  const lock = await hold()
  const [before] = await holders()
  await terminateHolder()
  const after = await until(async () => (await holders())[0])
  expect(after).not.toBe(before)
  expect(await hold()).toBeUndefined()
  await lock!.release()
  expect(await holders()).toEqual([])
})

test('is lost when another process was quicker', async () => {
  const lock = await hold()
  const other = new pg.Client(clientConfig(shared().connection))
  await other.connect()
  const waiting = other.query('select pg_advisory_lock($1)', [0x707572736572n])
  await until(async () => {
    // Other files have their locks on the same server.
    const { rows } = await sql`select from pg_locks
      where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`.execute(
      shared().database,
    )
    return rows.length > 0
  })
  await terminateHolder()
  await waiting
  await lock!.lost
  await lock!.release()
  await other.end()
})

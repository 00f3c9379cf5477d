import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.js'
import { useDatabase } from '../support/database/database.js'
import { until } from '../support/until.js'

const shared = useDatabase()
const lines: string[] = []
const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
let database: Database
beforeAll(() => {
  database = openDatabase(shared().connection, logger, { size: 2 })
})
afterAll(() => database.destroy())

async function pidOf(on: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(on)
  return rows[0]!.pid
}

/** Breaks the connection of another session from outside. */
function terminate(pid: number) {
  return sql`select pg_terminate_backend(${pid}::int, 5000)`.execute(shared().database)
}

describe('values', () => {
  test('uint256 amounts and bigints go in and come back exactly', async () => {
    const widest = 2n ** 256n - 1n
    const { rows } = await sql`select ${widest}::numeric(78,0) as a, ${-(2n ** 63n)}::bigint as b,
      count(*) as c, 7::int as d from (values (1), (2)) v`.execute(database)
    expect(rows).toEqual([{ a: widest, b: -(2n ** 63n), c: 2n, d: 7 }])
  })

  test('an amount that is not whole fails the query, never rounds', async () => {
    await expect(sql`select 1.5::numeric as a`.execute(database)).rejects.toThrow('1.5')
  })

  test('dates, JSON and bytes come as the driver has them', async () => {
    const { rows } = await sql<Record<string, unknown>>`select to_timestamp(1)  as at,
      '{"a":[1]}'::jsonb as json, '\\x01ff'::bytea as bytes`.execute(database)
    expect(rows).toEqual([{ at: new Date(1000), json: { a: [1] }, bytes: Buffer.of(1, 255) }])
  })
})

describe('a connection that breaks', () => {
  test('while idle is logged and replaced', async () => {
    lines.length = 0
    await terminate(await pidOf(database))
    await until(async () => lines.join().includes('database connection lost'))
    expect(await pidOf(database)).toBeGreaterThan(0)
  })

  test('between two queries of a transaction fails the transaction, not the process', async () => {
    lines.length = 0
    const broken = database.transaction().execute(async (trx) => {
      await terminate(await pidOf(trx))
      await until(async () => lines.join().includes('database connection lost'))
      await sql`select 1`.execute(trx)
    })
    await expect(broken).rejects.toThrow()
    const pids = await Promise.all([pidOf(database), pidOf(database)])
    expect(new Set(pids).size).toBe(2)
  })

  test('under a query fails that query', async () => {
    const pid = await database.connection().execute(async (held) => {
      const own = await pidOf(held)
      const slow = sql`select pg_sleep(30)`.execute(held)
      await Promise.all([expect(slow).rejects.toThrow('not available'), terminate(own)])
      return own
    })
    expect(await pidOf(database)).not.toBe(pid)
  })
})

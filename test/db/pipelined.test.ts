import { type QueryExecutorProvider, sql } from 'kysely'
import { expect, test } from 'vitest'
import { pipelined } from '../../src/db/pipelined.js'
import { useDatabase } from '../support/database/database.js'

const shared = useDatabase()
function database() {
  return shared().database
}

async function count(on: QueryExecutorProvider): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from drops`.execute(on)
  return rows[0]!.count
}
function add(on: QueryExecutorProvider, value: number) {
  return sql`insert into drops values (${value})`.execute(on)
}

test('statements run in the order in which they begin, each on what was left before', async () => {
  const counts = await database()
    .transaction()
    .execute(async (trx) => {
      await sql`create temp table drops (value int unique) on commit drop`.execute(trx)
      return pipelined(trx, (statements) =>
        Promise.all([
          count(statements),
          add(statements, 1).then(() => count(statements)),
          count(statements),
          add(statements, 2),
          count(statements),
        ]),
      )
    })
  expect([counts[0], counts[2], counts[4]]).toEqual([0n, 1n, 2n])
  expect(counts[1]).toBe(2n)
})

test('the first that fails says why, and the transaction is undone', async () => {
  await sql`create table drops (value int unique)`.execute(database())
  const twice = database()
    .transaction()
    .execute((trx) =>
      pipelined(trx, (statements) =>
        Promise.all([add(statements, 1), add(statements, 1), add(statements, 2)]),
      ),
    )
  await expect(twice).rejects.toThrow('drops_value_key')
  expect(await count(database())).toBe(0n)
  await sql`drop table drops`.execute(database())
})

test('the first that fails says why also where those behind it are heard of sooner', async () => {
  const heardLate = async (statement: Promise<unknown>) => {
    const [result] = await Promise.allSettled([statement])
    for (let turn = 0; turn < 10; turn++) await undefined
    if (result.status === 'rejected') throw result.reason
  }
  const failing = database()
    .transaction()
    .execute((trx) =>
      pipelined(trx, (statements) =>
        Promise.all([
          heardLate(sql`select 1 / 0`.execute(statements)),
          sql`select 1`.execute(statements),
        ]),
      ),
    )
  await expect(failing).rejects.toThrow('division by zero')
})

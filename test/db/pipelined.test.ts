import { type QueryExecutorProvider, sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.js'
import { pipelined, pipelinedToCommit } from '../../src/db/pipelined.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

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

test('the last statements take effect with their commit, and the session goes on', async () => {
  const single = openDatabase(shared().connection, silent, { size: 1 })
  await sql`create table drops (value int unique)`.execute(single)
  const store = (...values: number[]) =>
    single.transaction().execute(async (trx) => {
      await add(trx, values[0]!)
      await pipelinedToCommit(trx, (statements) =>
        Promise.all(values.slice(1).map((value) => add(statements, value))),
      )
      // Another session sees them before the transaction ends for its owner.
      return count(database())
    })
  expect(await store(1, 2, 3)).toBe(3n)
  await expect(store(4, 5, 3)).rejects.toThrow('drops_value_key')
  expect(await count(single)).toBe(3n)
  expect(await store(6)).toBe(4n)
  const late = single.transaction().execute(async (trx) => {
    await pipelinedToCommit(trx, (statements) => add(statements, 7))
    throw new Error('after the commit')
  })
  await expect(late).rejects.toThrow('after the commit')
  const undone = single.transaction().execute(async (trx) => {
    await add(trx, 8)
    throw new Error('before it')
  })
  await expect(undone).rejects.toThrow('before it')
  expect(await count(database())).toBe(5n)
  await sql`drop table drops`.execute(single)
  await single.destroy()
})

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UnavailableError } from '../../src/base/errors/requestErrors.js'
import { type Database, openDatabase } from '../../src/db/database.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

const shared = useDatabase()
let database: Database
beforeAll(() => {
  database = openDatabase(shared().connection, silent, { size: 1 })
})
afterAll(() => database.destroy())

async function preparedLike(pattern: string): Promise<readonly { calls: bigint }[]> {
  const { rows } = await sql<{ calls: bigint }>`select generic_plans + custom_plans as calls
    from pg_prepared_statements where statement like ${pattern}`.execute(database)
  return rows
}

test('a statement is prepared once, whatever its values', async () => {
  for (const value of [1, 2, 3]) {
    const { rows } = await sql`select ${value}::int as given, 'once' as how`.execute(database)
    expect(rows).toEqual([{ given: value, how: 'once' }])
  }
  expect(await preparedLike("select $1::int as given, 'once'%")).toEqual([{ calls: 3n }])
})

test('a transaction takes effect as a whole or not at all', async () => {
  await sql`create table kept (value int primary key)`.execute(database)
  const insert = (on: Database, value: number) =>
    sql`insert into kept values (${value}::int)`.execute(on)
  await database.transaction().execute((trx) => insert(trx, 1))
  const failing = database.transaction().execute(async (trx) => {
    await insert(trx, 2)
    await insert(trx, 1)
  })
  await expect(failing).rejects.toThrow('duplicate key')
  await expect(
    database.transaction().execute(async () => {
      throw new Error('before any statement')
    }),
  ).rejects.toThrow('before any statement')
  const { rows } = await sql`select value from kept`.execute(database)
  expect(rows).toEqual([{ value: 1 }])
})

test('a schema that changes under a prepared statement costs one repetition', async () => {
  await sql`create table changing (a int)`.execute(database)
  const read = () =>
    sql`select * from changing where a is distinct from ${0}::int`.execute(database)
  await read()
  await sql`alter table changing add column b int`.execute(shared().database)
  await expect(read()).rejects.toBeInstanceOf(UnavailableError)
  await sql`insert into changing values (1, 2)`.execute(database)
  expect((await read()).rows).toEqual([{ a: 1, b: 2 }])
})

test('a plan made while a table was empty goes by its index when it has grown', async () => {
  await sql`create table growing (id int primary key, text text)`.execute(database)
  await sql`analyze growing`.execute(database)
  const read = (id: number) => sql`select text from growing where id = ${id}::int`.execute(database)
  for (let round = 0; round < 10; round++) await read(round)
  const { rows } = await sql<{ 'QUERY PLAN': string }>`
    explain select text from growing where id = 1`.execute(database)
  expect(rows.map((row) => row['QUERY PLAN']).join()).toContain('growing_pkey')
})

test('an ordinary pool plans a statement for its values: a partial index serves the value it is for', async () => {
  const ordinary = openDatabase(shared().connection, silent, { size: 1, plans: 'ordinary' })
  try {
    await sql`create table kinds (id int, kind text)`.execute(ordinary)
    await sql`insert into kinds select i, case when i % 1000 = 0 then 'rare' else 'usual' end
      from generate_series(1, 20000) i`.execute(ordinary)
    await sql`create index kinds_rare on kinds (id) where kind = 'rare'`.execute(ordinary)
    await sql`analyze kinds`.execute(ordinary)
    await sql`prepare of_kind(text) as select id from kinds where kind = $1 order by id`.execute(
      ordinary,
    )
    const planOf = async (kind: string) => {
      // Six times: the server would take one plan for all values from the sixth on.
      const explain = sql<{
        'QUERY PLAN': string
      }>`${sql.raw(`explain execute of_kind('${kind}')`)}`
      for (let round = 0; round < 6; round++) await explain.execute(ordinary)
      return (await explain.execute(ordinary)).rows.map((row) => row['QUERY PLAN']).join()
    }
    expect(await planOf('rare')).toContain('kinds_rare')
    expect(await planOf('usual')).toContain('Seq Scan')
  } finally {
    await ordinary.destroy()
  }
})

test('the number of prepared statements is bounded, whatever their length', async () => {
  for (let length = 1; length <= 450; length++) {
    const list = sql.join(Array.from({ length }, (_, i) => sql`${i}::int`))
    const { rows } = await sql`select array_length(array[${list}], 1) as of`.execute(database)
    expect(rows).toEqual([{ of: length }])
  }
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from pg_prepared_statements`.execute(database)
  expect(rows[0]?.count).toBeLessThanOrEqual(400n)
})

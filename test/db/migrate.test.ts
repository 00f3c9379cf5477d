import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { migrationNames } from '../../src/base/version.js'
import { openDatabase } from '../../src/db/database.js'
import { migrate } from '../../src/db/migrate.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

const shared = useDatabase()

test('migrations run once, also when several processes start at once', async () => {
  const { database, connection } = shared()
  await sql`drop schema public cascade`.execute(database)
  await sql`create schema public`.execute(database)
  const several = [1, 2, 3].map(() => openDatabase(connection, silent, { size: 2 }))
  const done = await Promise.all(several.map(migrate))
  expect(migrationNames).toContain('0001-schema')
  expect(done.flat()).toEqual(migrationNames)
  expect(await several[0]!.selectFrom('accounts').selectAll().execute()).toEqual([])
  expect(await migrate(several[1]!)).toEqual([])
  for (const each of several) await each.destroy()
})

test('a schema that is newer than the program is refused', async () => {
  const { database } = shared()
  await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '')`.execute(
    database,
  )
  await expect(migrate(database)).rejects.toThrow('9999-future')
})

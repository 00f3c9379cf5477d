import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.js'
import { migrate } from '../../src/store/migrate.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

const shared = useDatabase()

test('migrations run once, also when several processes start at once', async () => {
  const { database, connection } = shared()
  await sql`drop schema public cascade`.execute(database)
  await sql`create schema public`.execute(database)
  const several = [1, 2, 3].map(() => openDatabase(connection, silent, 2))
  const done = await Promise.all(several.map(migrate))
  const folder = new URL('../../src/store/migrations', import.meta.url)
  const files = readdirSync(folder, { recursive: true }).map(String)
  const names = files.filter((file) => file.endsWith('.ts')).map((file) => basename(file, '.ts'))
  expect(done.flat()).toEqual(names.sort())
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

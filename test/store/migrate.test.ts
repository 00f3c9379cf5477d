import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { Migrator, sql } from 'kysely'
import pg from 'pg'
import { expect, test } from 'vitest'
import { clientConfig, openDatabase } from '../../src/store/database.js'
import { migrate, migrations } from '../../src/store/migrate.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

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

test('a step that needs all processes stopped names those that run, and goes on without them', async () => {
  const { database, connection } = shared()
  await sql`drop schema public cascade`.execute(database)
  await sql`create schema public`.execute(database)
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  })
  const { error } = await migrator.migrateTo('0050-large-pools')
  expect(error).toBeUndefined()
  // A process of the version before: its sessions and its lease.
  const old = new pg.Client({ ...clientConfig(connection), application_name: 'purser' })
  await old.connect()
  await sql`insert into leases (name, holder, token, expires_at)
    values ('bundler 10', 'replica-7', 1, clock_timestamp() + interval '1 hour')`.execute(database)
  try {
    await expect(migrate(database)).rejects.toThrow(
      /1 sessions of another version from this machine; replica-7, which holds "bundler 10"/,
    )
  } finally {
    await old.end()
  }
  // The server may need a moment to notice that the session has ended.
  await until(async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and application_name = 'purser'`.execute(database)
    return rows.length === 0
  })
  await expect(migrate(database)).rejects.toThrow(/still: replica-7/)
  await sql`update leases set expires_at = '-infinity'`.execute(database)
  expect((await migrate(database))[0]).toBe('0060-payers')
  expect(await migrate(database)).toEqual([])
})

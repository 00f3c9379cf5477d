import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, inject } from 'vitest'
import { type Connection, type Database, openDatabase } from '../../../src/db/database.js'
import { startEmbeddedPostgres } from '../../../src/db/embedded/embeddedPostgres.js'
import { migrate } from '../../../src/db/migrate.js'
import { silent } from '../logger.js'

export type TestDatabase = { readonly database: Database; readonly connection: Connection }

type SocketConnection = Extract<Connection, { socketFolder: string }>

const TEMPLATE = 'purser_template'
const DRAFT = 'purser_template_draft'

async function createTemplate(admin: Database, connection: SocketConnection): Promise<void> {
  await sql`drop database if exists ${sql.id(DRAFT)} with (force)`.execute(admin)
  await sql`create database ${sql.id(DRAFT)}`.execute(admin)
  const draft = openDatabase({ ...connection, database: DRAFT }, silent, { size: 2 })
  await migrate(draft).finally(() => draft.destroy())
  await sql`alter database ${sql.id(DRAFT)} rename to ${sql.id(TEMPLATE)}`.execute(admin)
}

/** Test files run in several processes; the first migrates a database that the others copy. */
function ensureTemplate(admin: Database, connection: SocketConnection): Promise<void> {
  return admin.connection().execute(async (session) => {
    await sql`select pg_advisory_lock(1)`.execute(session)
    const { rows } = await sql`select from pg_database where datname = ${TEMPLATE}`.execute(session)
    if (rows.length === 0) await createTemplate(session, connection)
    await sql`select pg_advisory_unlock(1)`.execute(session)
  })
}

/** The server of the run, joined once by each worker: the next file uses it, and the run's end ends it. */
let joined: ReturnType<typeof startEmbeddedPostgres> | undefined

/** A fresh, migrated database for all tests of a file; gone afterwards. */
export function useDatabase(): () => TestDatabase {
  let admin: Database | undefined
  let made: TestDatabase | undefined
  const name = `test_${randomUUID()}`
  beforeAll(async () => {
    joined ??= startEmbeddedPostgres(inject('databaseFolder'), silent)
    const { connection: server } = await joined
    if (!('socketFolder' in server)) throw new Error('The embedded database has a socket.')
    admin = openDatabase(server, silent, { size: 1 })
    await ensureTemplate(admin, server)
    await sql`create database ${sql.id(name)} template ${sql.id(TEMPLATE)}`.execute(admin)
    const connection = { ...server, database: name }
    made = { connection, database: openDatabase(connection, silent) }
  })
  afterAll(async () => {
    await made?.database.destroy()
    if (admin) await sql`drop database if exists ${sql.id(name)} with (force)`.execute(admin)
    await admin?.destroy()
  })
  return () => {
    if (!made) throw new Error('The database does not run yet.')
    return made
  }
}

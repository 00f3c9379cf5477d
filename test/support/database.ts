import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { type Connection, type Database, openDatabase } from '../../src/store/database.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/store/embeddedPostgres.js'
import { migrate } from '../../src/store/migrate.js'
import { silent } from './logger.js'

export type TestDatabase = { readonly database: Database; readonly connection: Connection }

/** A fresh, migrated PostgreSQL for all tests of a file; gone afterwards. */
export const useDatabase = (): (() => TestDatabase) => {
  let folder: string
  let postgres: EmbeddedPostgres | undefined
  let database: Database | undefined
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'purser-db-'))
    chmodSync(folder, 0o711)
    postgres = await startEmbeddedPostgres(folder, silent)
    database = openDatabase(postgres.connection, silent)
    await migrate(database)
  })
  afterAll(async () => {
    await database?.destroy()
    await postgres?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return () => {
    if (!database || !postgres) throw new Error('The database does not run yet.')
    return { database, connection: postgres.connection }
  }
}

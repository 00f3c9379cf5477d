import { type Migration, Migrator } from 'kysely'
import type { Database } from './database.js'
import * as initial from './migrations/0001-initial.js'

const migrations: Record<string, Migration> = { '0001-initial': initial }

/** Brings the schema up to date; of several processes that start at once, one does it. */
export const migrate = async (database: Database): Promise<readonly string[]> => {
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

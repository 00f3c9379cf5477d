import { readFileSync } from 'node:fs'
import { type Kysely, Migrator, sql } from 'kysely'
import { ConfigError } from '../base/errors/configError.js'
import { faultPoint } from '../base/faults.js'
import { buildVersion, migrationNames, migrationsFolder } from '../base/version.js'
import type { Database } from './database.js'

/** The steps of the schema, each a file of statements that all take effect or none of them. */
const migrations = Object.fromEntries(
  migrationNames.map((name) => [
    name,
    {
      up: async (db: Kysely<unknown>) => {
        const statements = readFileSync(new URL(`${name}.sql`, migrationsFolder), 'utf8')
        await sql.raw(statements).execute(db)
        faultPoint('migration:applied')
      },
    },
  ]),
)

/** The last step, which says what schema this build knows. */
export const newestMigration = migrationNames.at(-1) ?? ''

/** Refuses a schema that a newer version has made: this one would not know what its columns mean. */
async function requireKnownSchema(database: Database): Promise<void> {
  if (!(await hasSchema(database))) return
  const { rows } = await sql<{
    name: string
  }>`select name from kysely_migration order by name`.execute(database)
  const unknown = rows.filter(({ name }) => !migrationNames.includes(name)).at(-1)
  if (unknown === undefined) return
  throw new ConfigError(
    `The database was changed by a newer version of Purser, up to ${unknown.name}; this one (${buildVersion}) ends at ${newestMigration}. Start the newer version, or restore a backup that was made before it.`,
  )
}

/**
 * Brings the schema up to date; of several processes that start at once, one does it.
 * @returns the names of the steps that it took
 */
export async function migrate(database: Database): Promise<readonly string[]> {
  await requireKnownSchema(database)
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

/** Has anybody made Purser's schema in this database? */
export async function hasSchema(database: Database): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select to_regclass('kysely_migration') is not null as known`.execute(database)
  return rows[0]?.known === true
}

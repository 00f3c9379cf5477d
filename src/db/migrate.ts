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

/**
 * The last step of a schema, undefined where there is none.
 * @throws ConfigError when a newer version made it: this one would not know what its columns mean
 */
export async function knownSchema(database: Database): Promise<string | undefined> {
  if (!(await hasSchema(database))) return undefined
  const { rows } = await sql<{
    name: string
  }>`select name from kysely_migration order by name`.execute(database)
  const unknown = rows.filter(({ name }) => !migrationNames.includes(name)).at(-1)
  if (unknown === undefined) return rows.at(-1)?.name
  throw new ConfigError(newerVersion('The database was changed', unknown.name))
}

function newerVersion(what: string, step: string): string {
  return `${what} by a newer version of Purser, up to ${step}; this one (${buildVersion}) ends at ${newestMigration}. Start the newer version, or restore a backup that was made before it.`
}

/**
 * Brings the schema up to date; of several processes that start at once, one does it.
 * @returns the names of the steps that it took
 */
export function migrate(database: Database): Promise<readonly string[]> {
  return migrateTo(database, newestMigration)
}

/** Makes in an empty database the schema that a backup is of, whose last step was `step`. */
export async function migrateTo(database: Database, step: string): Promise<readonly string[]> {
  if (!migrationNames.includes(step))
    throw new ConfigError(newerVersion('The backup was made', step))
  await knownSchema(database)
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  })
  const { error, results } = await migrator.migrateTo(step)
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

/** Has anybody made Purser's schema in this database? */
export async function hasSchema(database: Database): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select to_regclass('kysely_migration') is not null as known`.execute(database)
  return rows[0]?.known === true
}

import { readdirSync, readFileSync } from 'node:fs'

const manifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as {
  version: string
}

/** The version in package.json. */
export const { version } = manifest

/** The steps of the database's schema, SQL files whose names begin with their number. */
export const migrationsFolder = new URL('../db/migrations/', import.meta.url)

/** Their names, in the order in which they run: `0001-schema`. Reading names loads no code of the database. */
export const migrationNames: readonly string[] = readdirSync(migrationsFolder)
  .flatMap((file) => (file.endsWith('.sql') ? [file.slice(0, -'.sql'.length)] : []))
  .sort()

/** The number of the last migration that this build knows, such as `0001`. */
export const schemaVersion = (migrationNames.at(-1) ?? '').slice(0, 4)

/**
 * The version in package.json and the schema that this build needs, as semantic versioning writes
 * what a build consists of: two builds that cannot share a database never call themselves the same.
 */
export const buildVersion = `${version}+schema.${schemaVersion}`

import { readdirSync, readFileSync } from 'node:fs'

const manifest = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as {
  version: string
}

/** The version in package.json. */
export const { version } = manifest

/** The number of the newest migration. Reading names loads no code, which a mere `--version` would wait for. */
function newestMigration(): string {
  const files = readdirSync(new URL('../store/migrations', import.meta.url), { recursive: true })
  const numbers = files.flatMap((file) => /(\d{4})-[^/\\]*\.[jt]s$/.exec(String(file))?.[1] ?? [])
  return numbers.sort().at(-1) ?? '0000'
}

/** The number of the last migration that this build knows, such as `0166`. */
export const schemaVersion = newestMigration()

/**
 * The version in package.json and the schema that this build needs, as semantic versioning writes
 * what a build consists of: two builds that cannot share a database never call themselves the same.
 */
export const buildVersion = `${version}+schema.${schemaVersion}`

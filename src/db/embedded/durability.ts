import { sql } from 'kysely'
import type { Database } from '../database.js'

type Settings = Readonly<Record<string, string>>

/** Settings of a server that decide what a crash can take. */
const names = ['fsync', 'full_page_writes', 'synchronous_commit']

/**
 * The risks to a commit on this server, a sentence each; without any it survives the loss of power. `synchronous_commit` is what our own sessions have, see `openDatabase`.
 */
export function durabilityRisks(settings: Settings): string[] {
  return [
    ...(settings.fsync === 'off'
      ? [
          'fsync is off: a crash of its machine can lose acknowledged operations and ruin the database.',
        ]
      : []),
    ...(settings.full_page_writes === 'off'
      ? ['full_page_writes is off: a crash of its machine can ruin the database.']
      : []),
    ...(settings.synchronous_commit === 'off'
      ? ['synchronous_commit is off: a crash can lose the operations acknowledged last.']
      : []),
  ]
}

export async function durabilitySettings(database: Database): Promise<Settings> {
  const { rows } = await sql<{ name: string; setting: string }>`
    select name, setting from pg_settings where name = any(${names}::text[])`.execute(database)
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

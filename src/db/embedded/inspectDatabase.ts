import { sql } from 'kysely'
import { migrationNames } from '../../base/version.js'
import type { Database } from '../database.js'
import { hasSchema } from '../migrate.js'
import { durabilityRisks, durabilitySettings } from './durability.js'

/** The facts about a server and its schema that decide whether a service can work on it. */
export type DatabaseFacts = {
  /** `17.2` */
  readonly version: string
  /** Takes no writes: a standby, or by default_transaction_read_only. */
  readonly isReadOnly: boolean
  /** Whether our user may make tables. */
  readonly mayCreate: boolean
  /** Seconds by which the server's clock is ahead of ours. */
  readonly clockAhead: number
  /** `none`: nobody made one. `older`: the next start upgrades it. `newer`: this version cannot use it. */
  readonly schema: 'none' | 'older' | 'current' | 'newer'
  /** Sentences on what a crash of the server can take. */
  readonly risks: readonly string[]
}

/** Reads the facts; writes nothing. */
export async function inspectDatabase(database: Database): Promise<DatabaseFacts> {
  const { rows } = await sql<{
    version: string
    read_only: boolean
    may_create: boolean
    now: string
  }>`
    select current_setting('server_version') as version,
      pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as read_only,
      coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
      extract(epoch from clock_timestamp())::text as now`.execute(database)
  const ours = Date.now() / 1_000
  const [row] = rows
  if (row === undefined) throw new Error('a query without a row')
  return {
    version: row.version.split(' ')[0] ?? '',
    isReadOnly: row.read_only,
    mayCreate: row.may_create,
    clockAhead: Number(row.now) - ours,
    schema: await schemaState(database),
    risks: durabilityRisks(await durabilitySettings(database)),
  }
}

async function schemaState(database: Database): Promise<DatabaseFacts['schema']> {
  if (!(await hasSchema(database))) return 'none'
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(database)
  const applied = new Set(rows.map(({ name }) => name))
  if ([...applied].some((name) => !migrationNames.includes(name))) return 'newer'
  return migrationNames.every((name) => applied.has(name)) ? 'current' : 'older'
}

import { sql } from 'kysely'
import { type Database, openDatabase } from '../../../src/db/database.js'
import { startEmbeddedPostgres } from '../../../src/db/embedded/embeddedPostgres.js'
import { silent } from '../logger.js'

/** The work of a database that does not depend on how busy the machine is. */
export type DatabaseWork = {
  readonly statements: number
  /** Statements that were planned anew. */
  readonly planned: number
  readonly commits: number
  /** Bytes, without the full pages that follow a checkpoint and those of an index that is split: both come by chance. */
  readonly wal: number
  readonly indexEntries: number
}

/** Makes the embedded database of a data folder count its work; it must not run. */
export async function prepareCounting(dataFolder: string): Promise<void> {
  const { connection, stop } = await startEmbeddedPostgres(dataFolder, silent)
  const database = openDatabase(connection, silent, { size: 1 })
  try {
    await sql`alter system set shared_preload_libraries = 'pg_stat_statements'`.execute(database)
    await sql`create extension pg_walinspect`.execute(database)
    await sql`create extension pg_stat_statements`.execute(database)
    for (const [name, value] of [
      ['pg_stat_statements.track_planning', 'on'],
      ['pg_stat_statements.track_utility', 'off'],
    ] as const)
      await sql`alter system set ${sql.raw(name)} = ${sql.lit(value)}`.execute(database)
  } finally {
    await database.destroy()
    await stop()
  }
}

/** A count that goes on; each call says how much work there was since its beginning. */
export type WorkCount = () => Promise<DatabaseWork>

/** Counts from now on. */
export async function countWork(database: Database): Promise<WorkCount> {
  await sql`select pg_stat_statements_reset()`.execute(database)
  const before = await position(database)
  return async () => {
    const now = await position(database)
    const { rows: statements } = await sql<{ calls: bigint; plans: bigint }>`
      select coalesce(sum(calls), 0)::bigint as calls, coalesce(sum(plans), 0)::bigint as plans
      from pg_stat_statements where query !~ 'pg_stat|pg_current_wal|pg_sleep'`.execute(database)
    const { rows: wal } = await sql<{ bytes: number; entries: number }>`
      select sum(record_size) filter (where "resource_manager/record_type" !~ '^Btree/SPLIT')::float8
          as bytes,
        sum(count) filter (where "resource_manager/record_type" ~ '^Btree/INSERT_(LEAF|POST)')::float8
          as entries
      from pg_get_wal_stats(${before.lsn}::pg_lsn, ${now.lsn}::pg_lsn, true)`.execute(database)
    return {
      statements: Number(statements[0]?.calls),
      planned: Number(statements[0]?.plans),
      commits: now.commits - before.commits,
      wal: wal[0]?.bytes ?? 0,
      indexEntries: wal[0]?.entries ?? 0,
    }
  }
}

async function position(
  database: Database,
): Promise<{ readonly lsn: string; readonly commits: number }> {
  // Sessions report what they did when they rest, at most a second later.
  await sql`select pg_sleep(1.1)`.execute(database)
  const { rows } = await sql<{ lsn: string; commits: number }>`
    select pg_current_wal_insert_lsn()::text as lsn,
      (select sum(xact_commit) from pg_stat_database)::float8 as commits`.execute(database)
  const [row] = rows
  if (row === undefined) throw new Error('the database does not say where it is')
  return row
}

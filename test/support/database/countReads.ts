import { sql } from 'kysely'
import { type Connection, type Database, openDatabase } from '../../../src/db/database.js'
import { silent } from '../logger.js'

/** How many rows of a table, or entries of its indexes, `work` read through the connection that it gets. */
export async function countReads(
  connection: Connection,
  table: string,
  work: (database: Database) => Promise<void>,
): Promise<number> {
  // A session hands in what it counted when it is asked to.
  const lone = openDatabase(connection, silent, { size: 1 })
  const readSoFar = async (): Promise<number> => {
    await sql`select pg_stat_force_next_flush()`.execute(lone)
    const { rows } = await sql<{ read: number }>`
      select (seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i
        where i.relid = t.relid))::float8 as read
      from pg_stat_user_tables t where relname = ${table}`.execute(lone)
    return rows[0]?.read ?? Number.NaN
  }
  try {
    const before = await readSoFar()
    await work(lone)
    return (await readSoFar()) - before
  } finally {
    await lone.destroy()
  }
}

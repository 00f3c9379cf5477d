import { sql } from 'kysely'
import type { Database } from '../../src/db/database.js'

/** `bytes`: with indexes and what is stored out of line; `dead`: row versions that vacuum has yet to take. */
export type TableSizes = Readonly<Record<string, { readonly bytes: number; readonly dead: number }>>

export async function tableSizes(database: Database): Promise<TableSizes> {
  const { rows } = await sql<{ name: string; bytes: number; dead: number }>`
    select relname as name, pg_total_relation_size(relid)::float8 as bytes, n_dead_tup::float8 as dead
    from pg_stat_user_tables order by 2 desc`.execute(database)
  return Object.fromEntries(rows.map(({ name, bytes, dead }) => [name, { bytes, dead }]))
}

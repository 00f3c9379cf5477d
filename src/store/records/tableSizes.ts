import { sql } from 'kysely'
import type { Database } from '../database.js'

/** A table with its size on disk. */
export type TableSize = {
  readonly name: string
  /** As the server estimates it; undefined before it has looked. */
  readonly rows: bigint | undefined
  /** Bytes of the rows, also of those that were moved out of line. */
  readonly bytes: bigint
  readonly indexBytes: bigint
}

/** The tables of Purser, the largest first. Reads no rows. */
export async function tableSizes(db: Database): Promise<readonly TableSize[]> {
  const { rows } = await sql<{ name: string; rows: bigint; bytes: bigint; index_bytes: bigint }>`
    select c.relname as name, c.reltuples::bigint as rows, pg_table_size(c.oid) as bytes,
      pg_indexes_size(c.oid) as index_bytes
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    order by pg_total_relation_size(c.oid) desc, c.relname`.execute(db)
  return rows.map((row) => ({
    name: row.name,
    rows: row.rows < 0n ? undefined : row.rows,
    bytes: row.bytes,
    indexBytes: row.index_bytes,
  }))
}

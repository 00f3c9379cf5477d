import { sql } from 'kysely'
import type { Database } from '../../src/db/database.js'

/** Bytes of write-ahead log, and pages that it holds whole because a checkpoint came before their first change. */
export type Wal = { readonly bytes: number; readonly pages: number }

/** What was written since the last call. */
export async function followWal(database: Database): Promise<() => Promise<Wal>> {
  async function total(): Promise<Wal> {
    const { rows } = await sql<Wal>`
      select wal_bytes::float8 as bytes, wal_fpi::float8 as pages from pg_stat_wal`.execute(
      database,
    )
    return rows[0] ?? { bytes: Number.NaN, pages: Number.NaN }
  }
  let before = await total()
  return async () => {
    const after = await total()
    const written = { bytes: after.bytes - before.bytes, pages: after.pages - before.pages }
    before = after
    return written
  }
}

import { sql } from 'kysely'
import type { Database } from '../../src/db/database.js'

/** Bytes of write-ahead log, and pages that it holds whole because a checkpoint came before their first change. */
export type Wal = {
  readonly bytes: number
  readonly pages: number
  /** Share of whole pages that belongs to each table or index, of the log's end. */
  readonly pagesOf: Readonly<Record<string, number>>
}

/** Bytes of the log's end in which whole pages are counted by relation. */
const SAMPLE = 4 << 20

/** What was written since the last call. */
export async function followWal(database: Database): Promise<() => Promise<Wal>> {
  async function total() {
    const { rows } = await sql<{ bytes: number; pages: number }>`
      select wal_bytes::float8 as bytes, wal_fpi::float8 as pages from pg_stat_wal`.execute(
      database,
    )
    return rows[0] ?? { bytes: Number.NaN, pages: Number.NaN }
  }

  async function pagesOf(): Promise<Record<string, number>> {
    const { rows } = await sql<{ name: string; share: number }>`
      select coalesce(relname, 'another') as name, (count(*) / sum(count(*)) over ())::float8 as share
      from (select pg_current_wal_flush_lsn() as lsn) as at,
        pg_get_wal_block_info(at.lsn - ${sql.lit(SAMPLE)}::numeric, at.lsn, false) as block
        left join pg_class on pg_class.relfilenode = block.relfilenode
      where block_fpi_length > 0 group by 1`.execute(database)
    return Object.fromEntries(rows.map(({ name, share }) => [name, share]))
  }

  let before = await total()
  return async () => {
    const after = await total()
    const written = { bytes: after.bytes - before.bytes, pages: after.pages - before.pages }
    before = after
    return { ...written, pagesOf: await pagesOf() }
  }
}

import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { withBooks } from './books.js'

/**
 * Copies the running embedded cluster of a data folder as PostgreSQL's manual tells (pg_backup_start, copy,
 * pg_backup_stop): the copy is the database of the end of the backup, whatever was written meanwhile. The
 * embedded package holds neither pg_dump nor pg_basebackup.
 * @param meanwhile runs between the copy of the tables and that of the log
 */
export async function backUpOnline(
  folder: string,
  copy: string,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  const [from, to] = [join(folder, 'postgres'), join(copy, 'postgres')]
  const cluster = join(to, 'cluster')
  await withBooks(folder, async (database) => {
    // The session that began a backup must end it.
    await database.connection().execute(async (session) => {
      await sql`select pg_backup_start('test', true)`.execute(session)
      mkdirSync(copy, { recursive: true })
      execFileSync('cp', ['-a', from, to])
      await meanwhile()
      const { rows } = await sql<{ labelfile: string }>`
        select labelfile from pg_backup_stop(false)`.execute(session)
      rmSync(join(cluster, 'pg_wal'), { recursive: true })
      execFileSync('cp', ['-a', join(from, 'cluster/pg_wal'), join(cluster, 'pg_wal')])
      for (const left of [
        'postmaster.pid',
        'postmaster.opts',
        '.s.PGSQL.5432',
        '.s.PGSQL.5432.lock',
      ])
        rmSync(join(cluster, left), { force: true })
      const label = join(cluster, 'backup_label')
      if (existsSync(label)) throw new Error('the cluster had a label of an older backup')
      appendFileSync(label, rows[0]?.labelfile ?? '', { mode: 0o600 })
      execFileSync('chown', [`--reference=${join(cluster, 'PG_VERSION')}`, label])
    })
  })
}

import { type Kysely, type Migration, sql } from 'kysely'
import { faultPoint } from '../base/faults.js'
import { ConfigError } from '../errors/configError.js'

/** A step of the schema: statements that all take effect, in their order, or none of them does. */
export function migration(statements: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db)
      faultPoint('migration:applied')
    },
  }
}

/** A step during which no process of an earlier version may run. Throws ConfigError while one does. */
export function stoppedMigration(statements: readonly string[]): Migration {
  const { up } = migration(statements)
  return {
    up: async (db) => {
      await requireStopped(db)
      await up(db)
    },
  }
}

/**
 * Requires that no process of another version works on the database, for a step of the schema that such a process
 * would not respect. Its sessions tell, by their name (`database.ts`), and where a pooler hides them the leases
 * do. Processes of this version wait for the migration as we do. Throws ConfigError, which names them.
 */
async function requireStopped(db: Kysely<unknown>): Promise<void> {
  const { rows: sessions } = await sql<{ place: string; count: bigint }>`
    select coalesce(host(client_addr), 'this machine') as place, count(*) as count
    from pg_stat_activity
    where datname = current_database() and (application_name = 'purser' or application_name like 'purser %')
      and application_name <> current_setting('application_name') and pid <> pg_backend_pid()
    group by 1 order by 1`.execute(db)
  const { rows: leases } = await sql<{ name: string; holder: string; seconds: number }>`
    select name, holder, ceil(extract(epoch from expires_at - clock_timestamp()))::float8 as seconds
    from leases where expires_at > clock_timestamp() and expires_at < 'infinity' order by name`.execute(
    db,
  )
  const running = [
    ...sessions.map(({ place, count }) => `${count} sessions of another version from ${place}`),
    ...leases.map(
      ({ name, holder, seconds }) =>
        `${holder}, which holds "${name}" (if it was killed, for ${seconds} s more)`,
    ),
  ]
  if (running.length > 0)
    throw new ConfigError(
      `This upgrade needs all processes of the earlier version stopped, and there are still: ${running.join('; ')}.`,
    )
}

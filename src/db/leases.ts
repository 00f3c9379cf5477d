import { sql } from 'kysely'
import type { Database } from './database.js'

/** The right to do alone the work that `name` means; `token` grows with each holder. */
export type Lease = { readonly name: string; readonly holder: string; readonly token: bigint }

/** A lease in the database, by the database's clock. */
type LeaseStanding = Lease & {
  /** Milliseconds until others may take it; 0 or less = free. */
  readonly remaining: number
}

/** Milliseconds for which a process holds the bundling of a chain without renewing it. */
export const LEASE_TIME = 10_000

/** The channel on which candidates hear that a lease was given up; the payload is its name. */
export const LEASES_CHANNEL = 'purser_leases'

function after(milliseconds: number) {
  return sql<Date>`clock_timestamp() + ${milliseconds} * interval '1 millisecond'`
}

/**
 * Whether a lease for `duration` is free: its time is over, or ends later than any holder can have set it, because the
 * database's clock has been set back since.
 */
function isFree(duration: number) {
  return sql<boolean>`(leases.expires_at <= clock_timestamp()
    or leases.expires_at > ${after(2 * duration)})`
}

/**
 * Takes a lease that is free, for `duration` milliseconds, the same for all candidates; undefined while
 * another process holds it. All times are the database's, so no process's clock matters.
 */
export async function takeLease(
  db: Database,
  name: string,
  holder: string,
  duration: number,
): Promise<Lease | undefined> {
  const row = await db
    .insertInto('leases')
    .values({ name, holder, token: 1n, expires_at: after(duration) })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, token: sql`leases.token + 1`, expires_at: after(duration) })
        .where(isFree(duration)),
    )
    .returning('token')
    .executeTakeFirst()
  return row && { name, holder, token: row.token }
}

/** Takes a lease from any holder: for a process that knows that no other one runs. */
export async function seizeLease(
  db: Database,
  name: string,
  holder: string,
  duration: number,
): Promise<Lease> {
  await db
    .updateTable('leases')
    .set({ expires_at: sql`'-infinity'` })
    .where('name', '=', name)
    .execute()
  const lease = await takeLease(db, name, holder, duration)
  if (!lease) throw new Error(`Another process runs after all: it has taken the lease "${name}".`)
  return lease
}

/** Prolongs a lease; false when another process has taken it. One that is only late is kept. */
export async function renewLease(
  db: Database,
  { name, token }: Lease,
  duration: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('leases')
    .set({ expires_at: after(duration) })
    .where('name', '=', name)
    .where('token', '=', token)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Frees a lease at once and notifies the candidates; false when another process has taken it. */
export async function giveUpLease(
  db: Database,
  { name, token }: Pick<Lease, 'name' | 'token'>,
): Promise<boolean> {
  const { rows } = await sql`with freed as (
      update leases set expires_at = '-infinity' where name = ${name} and token = ${token}
      returning name
    ) select pg_notify(${LEASES_CHANNEL}, name) from freed`.execute(db)
  return rows.length > 0
}

/**
 * Is the lease still ours? If so nobody can take it until the session's transaction ends, so its
 * writes are the holder's. The session has begun a transaction.
 */
export async function holdsLease(session: Database, { name, token }: Lease): Promise<boolean> {
  const row = await session
    .selectFrom('leases')
    .select('token')
    .where('name', '=', name)
    .where('token', '=', token)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** The last holder's lease, as those see it who take it for `duration`; undefined when nobody ever held it. */
export async function findLease(
  db: Database,
  name: string,
  duration: number,
): Promise<LeaseStanding | undefined> {
  const [lease] = await standings(db, duration).where('name', '=', name).execute()
  return lease
}

/** All leases that were ever held, as those see them who take them for LEASE_TIME. */
export function listLeases(db: Database): Promise<readonly LeaseStanding[]> {
  return standings(db, LEASE_TIME).orderBy('name').execute()
}

function standings(db: Database, duration: number) {
  return db
    .selectFrom('leases')
    .select(['name', 'holder', 'token'])
    .select(
      sql<number>`case when ${isFree(duration)} then least(0, extract(epoch from
          greatest(expires_at, to_timestamp(0)) - clock_timestamp()))
        else extract(epoch from expires_at - clock_timestamp()) end::float8 * 1000`.as('remaining'),
    )
}

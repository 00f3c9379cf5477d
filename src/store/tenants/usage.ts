import { sql } from 'kysely'
import type { Database } from '../database.js'

/** Requests of a key; a batch of n calls counts n. */
export type Usage = {
  readonly requests: number
  /** Those of `requests` that a limit refused. */
  readonly refused: number
}

/** Usage on a day, as `2026-01-31` in UTC. */
export type DailyUsage = Usage & { readonly day: string }

/** Adds to today's usage of keys. Keys that are gone are left out. */
export async function addUsage(db: Database, usage: ReadonlyMap<string, Usage>): Promise<void> {
  if (usage.size === 0) return
  const ids = [...usage.keys()]
  const requests = ids.map((id) => usage.get(id)?.requests ?? 0)
  const refused = ids.map((id) => usage.get(id)?.refused ?? 0)
  // In the order of ids, so that processes that write at once wait for each other in one order.
  await sql`insert into key_usage as u (key_id, day, requests, refused)
    select id, (clock_timestamp() at time zone 'utc')::date, added.requests, added.refused
    from unnest(${ids}::uuid[], ${requests}::bigint[], ${refused}::bigint[])
      as added (id, requests, refused)
    where exists (select from keys where keys.id = added.id)
    order by id
    on conflict (key_id, day) do update
      set requests = u.requests + excluded.requests, refused = u.refused + excluded.refused`.execute(
    db,
  )
}

/** The usage of a key in the last `days` days, today first; days without requests are left out. */
export async function listUsage(db: Database, keyId: string, days: number): Promise<DailyUsage[]> {
  const { rows } = await sql<{ day: string; requests: bigint; refused: bigint }>`
    select to_char(day, 'YYYY-MM-DD') as day, requests, refused from key_usage
    where key_id = ${keyId} and day > (clock_timestamp() at time zone 'utc')::date - ${days}::integer
    order by day desc`.execute(db)
  return rows.map(({ day, requests, refused }) => ({
    day,
    requests: Number(requests),
    refused: Number(refused),
  }))
}

/** Deletes the usage of days before `before`. */
export async function pruneUsage(db: Database, before: Date): Promise<void> {
  await sql`delete from key_usage where day < (${before}::timestamptz at time zone 'utc')::date`.execute(
    db,
  )
}

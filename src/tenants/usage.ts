import { sql } from 'kysely'
import type { Logger } from 'pino'
import { z } from 'zod'
import { createWriteBehind } from '../base/createWriteBehind.js'
import type { Database } from '../db/database.js'
import { listOf, type Row } from './schemas.js'

/** Requests of a key; a batch of n calls counts n. */
const usage = z.object({
  requests: z.int(),
  /** Those of `requests` that a limit refused. */
  refused: z.int(),
})

type Usage = Row<typeof usage>

/** The requests of a key: today's, and those of each of the last 30 days that had some, today first. */
export const keyUsage = listOf(usage.extend({ day: z.iso.date() })).extend({ today: usage })

type KeyUsage = Row<typeof keyUsage>

/** Adds to today's usage of keys. Keys that are gone are left out. */
async function addUsage(db: Database, usage: ReadonlyMap<string, Usage>): Promise<void> {
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

/** Deletes the usage of days before `before`. */
export async function pruneUsage(db: Database, before: Date): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from key_usage
    where day < (${before}::timestamptz at time zone 'utc')::date`.execute(db)
  return Number(numAffectedRows)
}

/** Milliseconds for which requests are counted here before they are stored. */
const GATHER = 1_000

/**
 * Counts the requests of keys. They are stored together, behind the answers: a process that is killed loses the
 * last second. While the database is away they gather, one number of a key.
 */
export function createUsageCounter(database: Database, logger: Logger) {
  let gathered = new Map<string, Usage>()
  function add(keyId: string, { requests, refused }: Usage): void {
    const known = gathered.get(keyId)
    gathered.set(keyId, {
      requests: requests + (known?.requests ?? 0),
      refused: refused + (known?.refused ?? 0),
    })
  }

  async function write(): Promise<void> {
    const batch = gathered
    gathered = new Map()
    try {
      await addUsage(database, batch)
    } catch (err) {
      for (const [keyId, usage] of batch) add(keyId, usage)
      logger.warn({ err }, 'the usage of keys could not be stored yet')
    }
  }

  const behind = createWriteBehind({ delay: GATHER, hasGathered: () => gathered.size > 0, write })
  return {
    /** Counts a request; neither throws nor waits. */
    countRequest(keyId: string, isRefused: boolean): void {
      add(keyId, { requests: 1, refused: isRefused ? 1 : 0 })
      behind.schedule()
    },
    /** Stores what was counted. */
    stop: behind.stop,
  }
}

/** Days that a report has, today included. */
const DAYS = 30

export async function usageOf(database: Database, keyId: string): Promise<KeyUsage> {
  const { rows: items } = await sql<KeyUsage['items'][number]>`
    select to_char(day, 'YYYY-MM-DD') as day, requests::float8, refused::float8 from key_usage
    where key_id = ${keyId} and day > (clock_timestamp() at time zone 'utc')::date - ${DAYS}::integer
    order by day desc`.execute(database)
  const day = new Date().toISOString().slice(0, 10)
  const today = items.find((each) => each.day === day)
  return { today: { requests: today?.requests ?? 0, refused: today?.refused ?? 0 }, items }
}

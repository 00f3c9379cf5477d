import { sql } from 'kysely'
import type { Database } from '../database.js'

/** A share of the requests that a quota allows in a window, for one process to spend. */
export type QuotaShare = {
  readonly granted: number
  /** Granted in the window to all processes together, this share included. */
  readonly taken: number
  /** The window, by its begin in Unix seconds. */
  readonly begins: number
  /** Seconds until the window ends, by the database's clock. */
  readonly remaining: number
}

export type QuotaWindow = {
  /** The key or app. */
  readonly subject: string
  /** Length of the window; windows begin at multiples of it, in UTC. */
  readonly seconds: number
  /** Requests that the window allows. */
  readonly limit: number
}

/**
 * A process takes a sixteenth of what is left of a window: few round trips while much is left, and little that a
 * process holds without use near the end.
 */
const PARTS = 16

/**
 * Takes a share of the window's requests: at least `wanted` as far as they are there. All shares of a window
 * together are never more than its limit.
 */
export async function takeQuotaShare(
  db: Database,
  { subject, seconds, limit }: QuotaWindow,
  wanted: number,
): Promise<QuotaShare> {
  const shareOf = (taken: ReturnType<typeof sql>) =>
    sql`least(greatest(0, ${limit}::bigint - ${taken}),
      greatest(${wanted}::bigint, (${limit}::bigint - ${taken}) / ${PARTS}))`
  const ofWindow = shareOf(sql`w.taken`)
  const isLater = sql`w.begins < excluded.begins`
  const { rows } = await sql<{
    granted: bigint
    taken: bigint
    begins: bigint
    remaining: number
  }>`insert into quota_windows as w (subject, seconds, begins, taken, granted)
    select ${subject}::uuid, ${seconds}::integer,
      floor(extract(epoch from clock_timestamp()) / ${seconds}::integer) * ${seconds}::integer,
      ${shareOf(sql`0`)}, ${shareOf(sql`0`)}
    on conflict (subject, seconds) do update set
      begins = greatest(w.begins, excluded.begins),
      taken = case when ${isLater} then excluded.taken else w.taken + ${ofWindow} end,
      granted = case when ${isLater} then excluded.granted else ${ofWindow} end
    returning granted, taken, begins,
      (begins + seconds - extract(epoch from clock_timestamp()))::float8 as remaining`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a quota window gave no row')
  return {
    granted: Number(row.granted),
    taken: Number(row.taken),
    begins: Number(row.begins),
    remaining: row.remaining,
  }
}

/** Deletes windows that ended before `before`, in Unix seconds: of quotas that are gone, or not used. */
export async function pruneQuotaWindows(db: Database, before: number): Promise<void> {
  await sql`delete from quota_windows where begins + seconds < ${before}`.execute(db)
}

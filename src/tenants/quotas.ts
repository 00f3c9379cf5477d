import { sql } from 'kysely'
import { z } from 'zod'
import { RateLimitError } from '../base/errors/limitErrors.js'
import { Lru } from '../base/lru.js'
import type { Database } from '../db/database.js'
import type { Row } from './schemas.js'

const quota = z.int().min(1).max(1_000_000_000)
/** Requests of a key, or of all keys of an app; over all processes. */
export const quotas = z
  .strictObject({ perSecond: quota, perMinute: quota, perDay: quota })
  .partial()
  .nullable()

export type Quotas = NonNullable<Row<typeof quotas>>

/** A key that asks, with its own quotas and those of its app. */
type QuotaHolder = {
  readonly keyId: string
  readonly appId: string
  readonly quotas: Quotas | null
  readonly appQuotas: Quotas | null
}

/** Windows in seconds by the member that limits them. */
const windows = { perSecond: 1, perMinute: 60, perDay: 86_400 } as const

type Window = QuotaWindow & { readonly owner: 'keyQuota' | 'appQuota' }

/** The part of a window that this process may spend without asking. */
type Share = {
  limit: number
  /** The window that the share is of, by its begin in Unix seconds. */
  begins: number
  /** On this process's monotonic clock, in milliseconds. */
  endsAt: number
  left: number
  /** Granted to all processes when this one last asked. */
  taken: number
  /** Requests of this process that wait for the share that is being asked for. */
  waiting: number
  asking: Promise<void> | undefined
}

/** Windows whose shares a process remembers; a share that is forgotten is lost to everybody until its window ends. */
const MOST_SHARES = 50_000

/**
 * Counts requests of keys and apps over all processes of a database. A process spends shares that it took from
 * the database beforehand, so most requests wait for nothing. In a window never more than the limit passes; what
 * other processes hold and do not use may lack, a sixteenth of what was left when they took it.
 */
export function createQuotas(database: Database) {
  const shares = new Lru<string, Share>(MOST_SHARES)

  const shareOf = ({ subject, seconds, limit }: Window): Share => {
    const name = `${subject} ${seconds}`
    const known = shares.get(name)
    if (known?.limit === limit) return known
    // What was taken under another limit may be more than this one allows.
    const share = { limit, begins: 0, endsAt: 0, left: 0, taken: 0, waiting: 0, asking: undefined }
    shares.set(name, share)
    return share
  }

  const ask = async (window: Window, share: Share): Promise<void> => {
    // The calls of a batch come in one turn, and are asked for together.
    await null
    // Before the question, so that the window ends here no later than in the database.
    const asked = performance.now()
    const shown = await takeQuotaShare(database, window, share.waiting)
    const { granted, taken, begins, remaining } = shown
    // Requests may have been given back meanwhile.
    share.left = granted + (begins === share.begins ? share.left : 0)
    share.begins = begins
    share.taken = taken
    share.endsAt = asked + remaining * 1_000
  }

  /** Takes one request of the window. @returns what gives it back */
  const take = async (window: Window): Promise<() => void> => {
    const share = shareOf(window)
    let isAnswered = share.endsAt > performance.now()
    for (;;) {
      // A share that was waited for counts in the window that it was granted in, also when that ended meanwhile.
      if (isAnswered && share.left > 0) {
        share.left -= 1
        const { begins } = share
        return () => {
          if (share.begins === begins) share.left += 1
        }
      }
      if (isAnswered && share.taken >= share.limit) throw refusalOf(window, share)
      share.waiting += 1
      share.asking ??= ask(window, share).finally(() => {
        share.asking = undefined
      })
      try {
        await share.asking
      } finally {
        share.waiting -= 1
      }
      isAnswered = true
    }
  }

  return {
    /** Takes one request from each quota of the key and its app, or from none. Throws RateLimitError. */
    async takeRequest(holder: QuotaHolder): Promise<void> {
      const giveBack: (() => void)[] = []
      try {
        for (const window of windowsOf(holder)) giveBack.push(await take(window))
      } catch (error) {
        for (const each of giveBack) each()
        throw error
      }
    },
  }
}

function refusalOf({ owner, seconds, limit }: Window, { taken, endsAt }: Share): RateLimitError {
  const wait = (endsAt - performance.now()) / 1_000
  return new RateLimitError(owner, wait, { limit, used: taken, seconds })
}

function windowsOf({ keyId, appId, quotas, appQuotas }: QuotaHolder): Window[] {
  const of = (owner: Window['owner'], subject: string, limits: Quotas | null): Window[] =>
    Object.entries(windows).flatMap(([name, seconds]) => {
      const limit = limits?.[name as keyof typeof windows]
      return limit === undefined ? [] : [{ owner, subject, seconds, limit }]
    })
  if (quotas === null && appQuotas === null) return []
  return [...of('keyQuota', keyId, quotas), ...of('appQuota', appId, appQuotas)]
}

/** A share of the requests that a quota allows in a window, for one process to spend. */
type QuotaShare = {
  readonly granted: number
  /** Granted in the window to all processes together, this share included. */
  readonly taken: number
  /** The window, by its begin in Unix seconds. */
  readonly begins: number
  /** Seconds until the window ends, by the database's clock. */
  readonly remaining: number
}

type QuotaWindow = {
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
async function takeQuotaShare(
  db: Database,
  { subject, seconds, limit }: QuotaWindow,
  wanted: number,
): Promise<QuotaShare> {
  const shareOf = (taken: ReturnType<typeof sql>) =>
    sql`least(greatest(0, ${limit}::bigint - ${taken}),
      greatest(${wanted}::bigint, (${limit}::bigint - ${taken}) / ${PARTS}))`
  const ofWindow = shareOf(sql`w.taken`)
  const isLater = sql`w.begins < excluded.begins`
  const { rows } =
    await sql<QuotaShare>`insert into quota_windows as w (subject, seconds, begins, taken, granted)
    select ${subject}::uuid, ${seconds}::integer,
      floor(extract(epoch from clock_timestamp()) / ${seconds}::integer) * ${seconds}::integer,
      ${shareOf(sql`0`)}, ${shareOf(sql`0`)}
    on conflict (subject, seconds) do update set
      begins = greatest(w.begins, excluded.begins),
      taken = case when ${isLater} then excluded.taken else w.taken + ${ofWindow} end,
      granted = case when ${isLater} then excluded.granted else ${ofWindow} end
    returning granted::float8, taken::float8, begins::float8,
      (begins + seconds - extract(epoch from clock_timestamp()))::float8 as remaining`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a quota window gave no row')
  return row
}

/** Deletes windows that ended before `before`, in Unix seconds: of quotas that are gone, or not used. */
export async function pruneQuotaWindows(db: Database, before: number): Promise<number> {
  const { numAffectedRows = 0n } =
    await sql`delete from quota_windows where begins + seconds < ${before}`.execute(db)
  return Number(numAffectedRows)
}

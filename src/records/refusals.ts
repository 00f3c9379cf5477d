import { type Insertable, type Selectable, sql } from 'kysely'
import type { Logger } from 'pino'
import { z } from 'zod'
import { createRecordShare } from '../base/createRecordShare.js'
import { createWriteBehind } from '../base/createWriteBehind.js'
import type { Metrics } from '../base/metrics/metrics.js'
import type { Database } from '../db/database.js'
import { allOf, haveValues, isWithin, type Page, type PageQuery, toPage } from '../db/page.js'
import type { Schema } from '../db/schema.generated.js'
import { isUuid } from '../db/uuid.js'
import { chainId, date, id, lowerAddress } from '../tenants/schemas.js'

export type StoredRefusal = Selectable<Schema['refusals']>
export type NewRefusal = Insertable<Schema['refusals']>

/** Conditions that a refusal must all fulfil. */
export const refusalFilter = z.strictObject({
  appId: id.optional(),
  chainId: chainId.optional(),
  method: z
    .string()
    .regex(/^\w{1,60}$/)
    .optional(),
  /** The JSON-RPC code. */
  code: z.coerce.number<number>().int().min(-40_000).max(40_000).optional(),
  rule: z
    .string()
    .regex(/^[A-Z0-9_-]{1,40}$/)
    .optional(),
  sender: lowerAddress.optional(),
  from: date.optional(),
  until: date.optional(),
})

type RefusalFilter = z.output<typeof refusalFilter> & {
  /** Undefined = all accounts, for the operator. */
  readonly accountId?: string | undefined
}

/** Refusals, the newest first; ids may be any text. A cursor that names none gives an empty page. */
export async function listRefusals(
  db: Database,
  filter: RefusalFilter,
  { limit, before }: PageQuery,
): Promise<Page<StoredRefusal>> {
  const { accountId, appId, chainId, method, code, rule, sender } = filter
  if (![accountId, appId].every((id) => id === undefined || isUuid(id)))
    return { items: [], next: undefined }
  const conditions = allOf([
    ...haveValues('r', {
      account_id: accountId,
      app_id: appId,
      chain_id: chainId,
      method,
      code,
      rule,
      sender,
    }),
    ...isWithin('r.at', filter),
    ...(before === undefined
      ? []
      : [sql`(r.at, r.id) < (select at, id from refusals where id = ${before})`]),
  ])
  const { rows } = await sql<StoredRefusal>`select * from refusals r where ${conditions}
    order by r.at desc, r.id desc limit ${limit + 1}`.execute(db)
  return toPage(rows, limit, ({ id }) => id)
}

/** One refusal, if there is one; with `accountId` only when it is that account's. */
export async function findRefusal(
  db: Database,
  id: string,
  accountId?: string,
): Promise<StoredRefusal | undefined> {
  if (!isUuid(id)) return undefined
  return db
    .selectFrom('refusals')
    .selectAll()
    .where('id', '=', id)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .executeTakeFirst()
}

/** Milliseconds between a decision and the answer that was recorded with it, at most: an estimate lies between. */
const LONGEST_ANSWER = 60_000

/** The record of the request that a decision refused, if it is kept. */
export function findRefusalOfDecision(
  db: Database,
  { id, app_id, created_at }: Pick<Selectable<Schema['decisions']>, 'id' | 'app_id' | 'created_at'>,
): Promise<StoredRefusal | undefined> {
  const latest = new Date(created_at.getTime() + LONGEST_ANSWER)
  // The two times are those of two machines.
  const earliest = new Date(created_at.getTime() - LONGEST_ANSWER)
  return db
    .selectFrom('refusals')
    .selectAll()
    .where('app_id', '=', app_id)
    .where('at', '>=', earliest)
    .where('at', '<=', latest)
    .where(sql<boolean>`data::json->>'decisionId' = ${id}`)
    .executeTakeFirst()
}

/**
 * Deletes up to `limit` refusals that are older than `before`, or beyond the newest `kept` of their app.
 * Returns how many.
 */
export async function pruneRefusals(
  db: Database,
  before: Date,
  kept: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    with doomed as (
      (select id from refusals where at < ${before} limit ${limit})
      union
      (select beyond.id from apps cross join lateral (
          select id from refusals where app_id = apps.id
          order by at desc, id desc offset ${kept} limit ${limit}
        ) beyond limit ${limit})
    )
    delete from refusals where id in (select id from doomed limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}

type RefusalRecorderContext = {
  readonly database: Database
  readonly logger: Logger
  readonly metrics: Metrics
}

/** Milliseconds for which refusals gather before they are stored together. */
const GATHER = 250
/** Refusals that wait at most; each holds at most some 20 kB. */
const MOST_WAITING = 500

/**
 * Stores refusals in batches, behind the answers. Records beyond an app's share, records that do not fit
 * into the queue of a slow database and records that cannot be stored are counted and dropped: a record must never
 * slow down or stop what it records.
 */
export function createRefusalRecorder({ database, logger, metrics }: RefusalRecorderContext) {
  let waiting: NewRefusal[] = []
  const share = createRecordShare()

  async function write(): Promise<void> {
    const batch = waiting
    waiting = []
    try {
      if (batch.length > 0) await database.insertInto('refusals').values(batch).execute()
    } catch (error) {
      metrics.count('purser_refusals_unrecorded_total', {}, batch.length)
      logger.warn({ err: error, lost: batch.length }, 'refusals could not be recorded')
    }
  }

  const behind = createWriteBehind({ delay: GATHER, hasGathered: () => waiting.length > 0, write })
  return {
    /** Stores the refusal soon, behind the answer. Never throws and never waits. */
    record(refusal: NewRefusal): void {
      if (!share(refusal.app_id) || waiting.length >= MOST_WAITING) {
        metrics.count('purser_refusals_unrecorded_total', {})
        return
      }
      waiting.push(refusal)
      behind.schedule()
    },
    /** Stores what waits. */
    stop: behind.stop,
  }
}

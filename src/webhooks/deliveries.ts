import { type Selectable, sql } from 'kysely'
import type { EventType } from '../base/vocabulary.js'
import type { Database } from '../db/database.js'
import { type Page, type PageQuery, toPage } from '../db/page.js'
import type { Schema } from '../db/schema.generated.js'

/** One attempt to deliver an event, as it is stored. */
type RecentAttempt = DeliveryAttempt & {
  /** ISO 8601, when it ended. */
  readonly at: string
}

/** One event on its way to one subscription, taken by this process until its lease is over. */
export type ClaimedDelivery = {
  readonly id: bigint
  /** The end of the lease, exact to the microsecond: only this claim of the delivery has it. */
  readonly until: string
  readonly attempts: number
  readonly eventId: string
  readonly type: EventType
  readonly occurredAt: Date
  readonly data: unknown
  readonly subscriptionId: string
  readonly url: string
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly previous_secret_until: Date | null
}

type DeliveryClaim = {
  readonly limit: number
  /** Limit per subscription, with what is under way, so that one that hangs does not hold up the others. */
  readonly perSubscription: number
  /** Milliseconds after which another process may take what this one did not finish. */
  readonly lease: number
  /** The deliveries of this process that are under way, by subscription. */
  readonly underWay: ReadonlyMap<string, number>
}

/** The number of due deliveries among which those to take are chosen. */
const WINDOW = 1_000

/**
 * Takes deliveries that are due; of several processes each gets others. Counts the attempt. Each subscription gets
 * its first before any gets a further one, however old a backlog is.
 */
export async function claimDeliveries(
  db: Database,
  { limit, perSubscription, lease, underWay }: DeliveryClaim,
): Promise<readonly ClaimedDelivery[]> {
  const counts = [...underWay]
  const busy = counts.filter(([, count]) => count >= perSubscription).map(([id]) => id)
  const { rows } = await sql<ClaimedDelivery>`with under_way as (
      select * from unnest(${counts.map(([id]) => id)}::uuid[], ${counts.map(([, count]) => count)}::int[])
        as u (subscription_id, number)
    ), due as (
      select d.id, d.subscription_id, d.next_attempt_at
      from event_deliveries d
      join event_subscriptions s on s.id = d.subscription_id and s.active
      where d.state = 'pending' and d.next_attempt_at <= now()
        and d.subscription_id <> all(${busy}::uuid[])
      order by d.next_attempt_at limit ${WINDOW}
    ), ranked as (
      select id, coalesce(number, 0)
        + row_number() over (partition by subscription_id order by next_attempt_at) as place
      from due left join under_way using (subscription_id)
    ), taken as (
      select d.id from event_deliveries d
      join ranked r on r.id = d.id and r.place <= ${perSubscription}
      where d.state = 'pending' and d.next_attempt_at <= now()
      order by r.place, d.next_attempt_at limit ${limit}
      for update of d skip locked
    )
    update event_deliveries d set attempts = d.attempts + 1, updated_at = now(),
      next_attempt_at = now() + make_interval(secs => ${lease / 1_000})
    from taken, events e, event_subscriptions s
    where d.id = taken.id and e.id = d.event_id and s.id = d.subscription_id
    returning d.id, d.next_attempt_at::text as until, d.attempts, e.id as "eventId", e.type,
      e.occurred_at as "occurredAt", e.data, s.id as "subscriptionId", s.url, s.secret,
      s.previous_secret, s.previous_secret_until`.execute(db)
  return rows
}

/** Attempts that a delivery remembers: those of one schedule, and a few that somebody asked for. */
const MOST_ATTEMPTS = 12
/** Characters of a reason that are kept. */
const LONGEST_REASON = 300

/** The end of an attempt. */
export type DeliveryAttempt = {
  /** Its number since the delivery was queued, the first is 1. */
  readonly attempt: number
  readonly milliseconds: number
  readonly outcome: string
  readonly httpStatus: number | null
  readonly reason: string | null
}

/** Whether a delivery is still taken by this claim: not replayed since, nor taken after its lease. */
function isHeld({ id, until }: ClaimedDelivery) {
  return sql<boolean>`id = ${id} and state = 'pending' and next_attempt_at = ${until}::timestamptz`
}

/**
 * Stores the end of an attempt, unless the delivery was replayed or taken by another process since.
 * @param next milliseconds until the next attempt; undefined = there is none
 * @returns whether it was stored
 */
export async function finishDelivery(
  db: Database,
  claimed: ClaimedDelivery,
  state: 'pending' | 'delivered' | 'failed',
  attempt: DeliveryAttempt,
  next = 0,
): Promise<boolean> {
  const { outcome, httpStatus, reason } = attempt
  const kept = reason?.slice(0, LONGEST_REASON) ?? null
  const entry: RecentAttempt = { ...attempt, at: new Date().toISOString(), reason: kept }
  const { numUpdatedRows } = await db
    .updateTable('event_deliveries')
    .set({
      state,
      outcome,
      http_status: httpStatus,
      reason,
      // An index out of range takes nothing away.
      recent_attempts: sql<
        readonly RecentAttempt[]
      >`(recent_attempts - ${-MOST_ATTEMPTS}::int) || ${JSON.stringify([entry])}::jsonb`,
      next_attempt_at: sql<Date>`now() + make_interval(secs => ${next / 1_000})`,
      updated_at: sql<Date>`now()`,
    })
    .where(isHeld(claimed))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Returns a delivery whose attempt was not finished, so that it is taken again at once. */
export async function returnDelivery(db: Database, claimed: ClaimedDelivery): Promise<void> {
  await db
    .updateTable('event_deliveries')
    .set((eb) => ({
      attempts: eb('attempts', '-', 1),
      next_attempt_at: sql<Date>`now()`,
    }))
    .where(isHeld(claimed))
    .execute()
}

export type Replay = {
  /** One event; undefined = all of `since`. */
  readonly eventId: string | undefined
  /** Events from then on; undefined = all that are kept. */
  readonly since: Date | undefined
  /** Only deliveries that were given up. */
  readonly onlyFailed: boolean
}

/** Queues deliveries of a subscription again; returns their number. */
export async function replayDeliveries(
  db: Database,
  subscriptionId: string,
  { eventId, since, onlyFailed }: Replay,
): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('event_deliveries as d')
    .from('events as e')
    .set({ state: 'pending', attempts: 0, next_attempt_at: sql<Date>`now()` })
    .whereRef('e.id', '=', 'd.event_id')
    .where('d.subscription_id', '=', subscriptionId)
    .$if(eventId !== undefined, (query) => query.where('e.id', '=', eventId ?? ''))
    .$if(since !== undefined, (query) => query.where('e.occurred_at', '>=', since ?? new Date()))
    .$if(onlyFailed, (query) => query.where('d.state', '=', 'failed'))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

type StoredDelivery = Selectable<Schema['event_deliveries']> & {
  readonly type: EventType
  readonly occurred_at: Date
  readonly data: unknown
  /** The oldest first. */
  readonly recent_attempts: readonly RecentAttempt[]
}

/** Newest first. */
export async function listDeliveries(
  db: Database,
  subscriptionId: string,
  { limit, before }: PageQuery,
): Promise<Page<StoredDelivery>> {
  const rows = await db
    .selectFrom('event_deliveries as d')
    .innerJoin('events as e', 'e.id', 'd.event_id')
    .selectAll('d')
    .select(['e.type', 'e.occurred_at', 'e.data'])
    .where('d.subscription_id', '=', subscriptionId)
    .$if(before !== undefined, (query) => query.where('d.id', '<', BigInt(before ?? 0)))
    .orderBy('d.id', 'desc')
    .limit(limit + 1)
    .execute()
  return toPage(rows as StoredDelivery[], limit, ({ id }) => String(id))
}

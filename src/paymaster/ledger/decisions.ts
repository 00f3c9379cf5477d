import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely'
import type { Hex } from 'viem'
import { z } from 'zod'
import { createRecordShare, type RecordShare } from '../../base/createRecordShare.js'
import { countedCode } from '../../base/metrics/catalogue.js'
import type { ChainMetrics } from '../../base/metrics/metrics.js'
import type { Database } from '../../db/database.js'
import {
  allOf,
  haveValues,
  isWithin,
  mostScanned,
  type Page,
  type PageQuery,
  scanEdge,
  scanLimit,
  toPage,
} from '../../db/page.js'
import type { Schema } from '../../db/schema.generated.js'
import { isUuid } from '../../db/uuid.js'
import { chainId, code, date, id, lowerAddress, lowerHash } from '../../tenants/schemas.js'
import type { ReservationState } from './reservations.js'
import { insertWebhookCalls, type NewWebhookCall } from './webhookCalls.js'

export type StoredDecision = Selectable<Schema['decisions']>
export type NewDecision = Omit<Insertable<Schema['decisions']>, 'created_at'>

/** What this process keeps of the refused decisions of each app. */
const shares = new WeakMap<Database, RecordShare>()

function shareOf(db: Database): RecordShare {
  const share = shares.get(db) ?? createRecordShare()
  shares.set(db, share)
  return share
}

/**
 * Counts a decision that reserves nothing, and stores it with its webhook calls unless its app has made more of them
 * than its share: with an app's key anybody can have any number refused.
 */
export async function recordRefusedDecision(
  { database, metrics }: { readonly database: Database; readonly metrics: ChainMetrics },
  decision: NewDecision,
  calls: readonly NewWebhookCall[],
): Promise<void> {
  metrics.count('purser_decisions_total', { code: countedCode(decision.code) })
  if (!shareOf(database)(decision.app_id)) {
    metrics.count('purser_decisions_unrecorded_total', {})
    return
  }
  await database.transaction().execute(async (trx) => {
    await trx.insertInto('decisions').values(decision).execute()
    await insertWebhookCalls(trx, [{ decision, calls }])
  })
}

/** The data of the event `sponsorship.signed`. */
export function signedEvent(decision: NewDecision) {
  return {
    decisionId: decision.id,
    chainId: Number(decision.chain_id),
    entryPoint: decision.entry_point,
    sender: decision.sender,
    nonce: String(decision.nonce),
    userOpHash: decision.user_op_hash,
    maxCostWei: String(decision.max_cost),
    validUntil: Number(decision.valid_until),
  }
}

export async function findDecision(db: Database, id: string): Promise<StoredDecision | undefined> {
  return isUuid(id)
    ? db.selectFrom('decisions').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined
}

/** Conditions that a decision must all fulfil. */
export const decisionFilter = z.strictObject({
  sponsored: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
  code: code.optional(),
  chainId: chainId.optional(),
  sender: lowerAddress.optional(),
  userOpHash: lowerHash.optional(),
  policyId: id.optional(),
  from: date.optional(),
  until: date.optional(),
})

/** Ids may be any text. */
export type DecisionFilter = z.output<typeof decisionFilter> & {
  /** The account of the decision's app; undefined = all accounts, for the operator. */
  readonly accountId?: string | undefined
  readonly appId?: string | undefined
}

/** A decision with the state of its reservation. */
export type DecisionEntry = StoredDecision & {
  /** null when nothing was reserved */
  readonly reservation_state: ReservationState | null
  /** The operation that took the nonce: this decision's, or another one. */
  readonly included_hash: Hex | null
  /** wei that this decision's operation cost; null while it is not included. */
  readonly actual_cost: bigint | null
}

/** Columns of an entry, of decision `d` and its reservation `r`. */
const entryColumns = sql`d.*, r.state as reservation_state, r.user_op_hash as included_hash,
  case when r.user_op_hash = d.user_op_hash then r.actual_cost end as actual_cost`

/** The codes of decisions that granted something; all others are refusals, which an index has apart. */
const grantCodes: readonly string[] = ['SPONSORED', 'TOKEN_PAYMENT']

/** Conditions by which an index gives the newest of an app in their order. */
function indexedConditions(filter: DecisionFilter) {
  const { sponsored, code } = filter
  const isRefused = sponsored === false || (code !== undefined && !grantCodes.includes(code))
  return [...(isRefused ? [sql`not o.sponsored`] : []), ...isWithin('o.created_at', filter)]
}

function otherConditions(filter: DecisionFilter) {
  const { chainId, sender, userOpHash, policyId, code, sponsored } = filter
  return [
    ...haveValues('o', {
      chain_id: chainId,
      sender,
      user_op_hash: userOpHash,
      policy_id: policyId,
      code,
    }),
    ...(sponsored === true ? [sql`o.sponsored`] : []),
  ]
}

const table = { name: 'decisions', at: 'created_at', id: 'id' } as const

/** Whether a decision `o` is older than the one with this id, which must be of the same tenant. */
function isOlder(id: string, scope: RawBuilder<unknown>) {
  return sql`(o.created_at, o.id) < (select d.created_at, d.id from decisions d
    join apps a on a.id = d.app_id where d.id = ${id} and ${scope})`
}

/**
 * Decisions, the newest first. A cursor that names no decision, or that of another app or account than the
 * filter's, gives an empty page. A page looks at a bounded number of decisions: one with few items, or none,
 * may have a `next`.
 */
export async function listDecisions(
  db: Database,
  filter: DecisionFilter,
  { limit, before }: PageQuery,
): Promise<Page<DecisionEntry>> {
  const { accountId, appId, policyId } = filter
  const ids = [accountId, appId, policyId].filter((id) => id !== undefined)
  if (!ids.every(isUuid)) return { items: [], next: undefined }
  const scope = allOf(haveValues('a', { account_id: accountId, id: appId }))
  const indexed = allOf([
    ...indexedConditions(filter),
    ...(before === undefined ? [] : [isOlder(before, scope)]),
  ])
  const others = otherConditions(filter)
  const most = mostScanned.ownRow
  const edge =
    others.length === 0
      ? undefined
      : await scanEdge<Pick<StoredDecision, 'id'>>(db, table, { scope, indexed, most })
  const downTo =
    edge === undefined
      ? sql`true`
      : sql`(d.created_at, d.id) >= (select created_at, id from decisions where id = ${edge.id})`
  const { rows } = await sql<DecisionEntry>`
    select ${entryColumns} from apps a cross join lateral (
      select * from (
        select * from decisions o where o.app_id = a.id and ${indexed}
        order by o.created_at desc, o.id desc
        limit ${others.length === 0 ? sql`${limit + 1}` : scanLimit(scope, most)}
      ) o where ${allOf(others)} order by o.created_at desc, o.id desc limit ${limit + 1}
    ) d left join reservations r on r.id = d.reservation_id
    where ${scope} and ${downTo}
    order by d.created_at desc, d.id desc limit ${limit + 1}`.execute(db)
  const page = toPage(rows, limit, ({ id }) => id)
  return edge === undefined || page.next !== undefined ? page : { ...page, next: edge.id }
}

/** One decision; with `accountId` only when it is that account's. */
export async function findDecisionEntry(
  db: Database,
  id: string,
  accountId?: string,
): Promise<DecisionEntry | undefined> {
  if (!isUuid(id)) return undefined
  const { rows } = await sql<DecisionEntry>`select ${entryColumns}
    from decisions d join apps a on a.id = d.app_id
      left join reservations r on r.id = d.reservation_id
    where d.id = ${id} and ${accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`}`.execute(
    db,
  )
  return rows[0]
}

/**
 * Deletes up to `limit` decisions made before `before`, or refused and beyond the newest `kept` such of their app,
 * with their webhook calls and charges, unless their reservation is not final yet. Returns how many. Counters
 * stay: they are sums.
 */
export function pruneDecisions(
  db: Database,
  before: Date,
  kept: number,
  limit: number,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string; reservation_id: bigint | null }>`
      with doomed as (
        (select d.id from decisions d left join reservations r on r.id = d.reservation_id
          where d.created_at < ${before} and (r.id is null or r.state in ('settled', 'released'))
          order by d.created_at limit ${limit})
        union
        (select o.id from apps cross join lateral (
            select id from decisions where app_id = apps.id and not sponsored
            order by created_at desc, id desc offset ${kept} limit ${limit}
          ) o limit ${limit})
      )
      select id, reservation_id from decisions where id in (select id from doomed limit ${limit})
      for update skip locked`.execute(trx)
    const ids = rows.map(({ id }) => id)
    const reservations = rows.flatMap(({ reservation_id }) => reservation_id ?? [])
    const isOfDecisions = sql`decision_id = any(${ids}::uuid[])`
    await sql`delete from webhook_calls where ${isOfDecisions}`.execute(trx)
    await sql`delete from charges where ${isOfDecisions}`.execute(trx)
    await sql`delete from decisions where id = any(${ids}::uuid[])`.execute(trx)
    await sql`delete from reservations r where id = any(${reservations}::bigint[])
      and not exists (select from decisions d where d.reservation_id = r.id)`.execute(trx)
    return ids.length
  })
}

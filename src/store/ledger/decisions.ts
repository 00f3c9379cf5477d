import { type ExpressionBuilder, type Insertable, type Selectable, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, Transaction } from '../database.js'
import { type Page, type PageQuery, toPage } from '../page.js'
import type { ReservationState, Schema } from '../schema.js'
import { isUuid } from '../uuid.js'
import { insertWebhookCalls, type NewWebhookCall } from './webhookCalls.js'

export type StoredDecision = Selectable<Schema['decisions']>
export type NewDecision = Omit<Insertable<Schema['decisions']>, 'created_at'>

/** Stores a decision that reserves nothing, with its webhook calls. */
export async function insertDecision(
  trx: Transaction,
  decision: NewDecision,
  calls: readonly NewWebhookCall[],
): Promise<void> {
  await trx.insertInto('decisions').values(decision).execute()
  await insertWebhookCalls(trx, [{ decision, calls }])
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

/** Conditions that a decision must all fulfil; ids may be any text. */
export type DecisionFilter = {
  /** The account of the decision's app; undefined = all accounts, for the operator. */
  readonly accountId?: string | undefined
  readonly appId?: string | undefined
  readonly chainId?: number | undefined
  readonly sender?: Address | undefined
  readonly userOpHash?: Hex | undefined
  readonly policyId?: string | undefined
  readonly code?: string | undefined
  readonly sponsored?: boolean | undefined
  readonly from?: Date | undefined
  readonly until?: Date | undefined
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

function selectEntries(db: Database) {
  return db
    .selectFrom('decisions as d')
    .leftJoin('reservations as r', 'r.id', 'd.reservation_id')
    .selectAll('d')
    .select([
      'r.state as reservation_state',
      'r.user_op_hash as included_hash',
      sql<bigint | null>`case when r.user_op_hash = d.user_op_hash then r.actual_cost end`.as(
        'actual_cost',
      ),
    ])
}

function conditionsOf(filter: DecisionFilter, before: string | undefined) {
  const { appId, chainId, sender, userOpHash, policyId, code, sponsored, from, until } = filter
  const ofApp = appId === undefined ? sql`` : sql` and app_id = ${appId}`
  return ({ eb, and }: ExpressionBuilder<Schema & { d: Schema['decisions'] }, 'd'>) =>
    and([
      ...(appId === undefined ? [] : [eb('d.app_id', '=', appId)]),
      ...(chainId === undefined ? [] : [eb('d.chain_id', '=', BigInt(chainId))]),
      ...(sender === undefined ? [] : [eb('d.sender', '=', sender)]),
      ...(userOpHash === undefined ? [] : [eb('d.user_op_hash', '=', userOpHash)]),
      ...(policyId === undefined ? [] : [eb('d.policy_id', '=', policyId)]),
      ...(code === undefined ? [] : [eb('d.code', '=', code)]),
      ...(sponsored === undefined ? [] : [eb('d.sponsored', '=', sponsored)]),
      ...(from === undefined ? [] : [eb('d.created_at', '>=', from)]),
      ...(until === undefined ? [] : [eb('d.created_at', '<', until)]),
      ...(before === undefined
        ? []
        : [
            sql<boolean>`(d.created_at, d.id)
              < (select created_at, id from decisions where id = ${before}${ofApp})`,
          ]),
    ])
}

/**
 * Decisions, the newest first. A cursor that names no decision, or that of another app than the
 * filter's, gives an empty page.
 */
export async function listDecisions(
  db: Database,
  filter: DecisionFilter,
  { limit, before }: PageQuery,
): Promise<Page<DecisionEntry>> {
  const { accountId, appId, policyId } = filter
  const ids = [accountId, appId, policyId, before].filter((id) => id !== undefined)
  if (!ids.every(isUuid)) return { items: [], next: undefined }
  const rows = await selectEntries(db)
    .$if(accountId !== undefined, (query) =>
      query.innerJoin('apps as a', 'a.id', 'd.app_id').where('a.account_id', '=', accountId ?? ''),
    )
    .where(conditionsOf(filter, before))
    .orderBy('d.created_at', 'desc')
    .orderBy('d.id', 'desc')
    .limit(limit + 1)
    .execute()
  return toPage(rows, limit, ({ id }) => id)
}

/** One decision; with `accountId` only when it is that account's. */
export async function findDecisionEntry(
  db: Database,
  id: string,
  accountId?: string,
): Promise<DecisionEntry | undefined> {
  return isUuid(id)
    ? selectEntries(db)
        .where('d.id', '=', id)
        .$if(accountId !== undefined, (query) =>
          query
            .innerJoin('apps as a', 'a.id', 'd.app_id')
            .where('a.account_id', '=', accountId ?? ''),
        )
        .executeTakeFirst()
    : undefined
}

/**
 * Deletes up to `limit` decisions made before `before`, with their webhook calls and charges, unless
 * their reservation is not final yet. Returns how many. Counters stay: they are sums.
 */
export function pruneDecisions(db: Database, before: Date, limit: number): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await sql<{ id: string; reservation_id: bigint | null }>`
      select d.id, d.reservation_id from decisions d
      left join reservations r on r.id = d.reservation_id
      where d.created_at < ${before} and (r.id is null or r.state in ('settled', 'released'))
      order by d.created_at limit ${limit} for update of d skip locked`.execute(trx)
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

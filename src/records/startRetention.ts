import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Hex } from 'viem'
import type { Database, Transaction } from '../db/database.js'
import { inTransaction } from '../db/inTransaction.js'
import { pruneCounters, pruneOrphanedCounters } from '../paymaster/ledger/budgetCounters.js'
import { pruneDecisions } from '../paymaster/ledger/decisions.js'
import { pruneGrants } from '../paymaster/ledger/grants.js'
import { pruneWitnesses } from '../mempool/witnesses.js'
import { tenantPruners } from '../tenants/pruneTenants.js'
import { pruneQuotaWindows } from '../tenants/quotas.js'
import { pruneUsage } from '../tenants/usage.js'
import { pruneRefusals } from './refusals.js'
import { isOf } from '../mempool/pool/operations.js'

type RetentionContext = {
  readonly database: Database
  readonly logger: Logger
  /** The days for which records are kept. */
  readonly days: number
}

const INTERVAL = 600_000
const DAY = 86_400_000
const BATCH = 1_000
/** The days for which counters are kept, twice the longest window. */
const COUNTER_DAYS = 62
/** The days for which the requests of keys are kept, today included. */
const USAGE_DAYS = 31
/** The refusals that are kept of one app, and as many refused decisions. */
const REFUSALS_PER_APP = 10_000

/** By name, each deletes a batch of what is old at `now` and returns the number of rows. */
function stepsOf({ database, days }: RetentionContext, now: Date) {
  const daysAgo = (count: number) => new Date(now.getTime() - count * DAY)
  const secondsOf = (date: Date) => Math.floor(date.getTime() / 1000)
  const before = daysAgo(days)
  return {
    decisions: () => pruneDecisions(database, before, REFUSALS_PER_APP, BATCH),
    grants: () => pruneGrants(database, secondsOf(before), BATCH),
    counters: () => pruneCounters(database, secondsOf(daysAgo(COUNTER_DAYS)), BATCH),
    orphanedCounters: () => pruneOrphanedCounters(database, BATCH),
    quotaWindows: () => pruneQuotaWindows(database, secondsOf(daysAgo(1))),
    usage: () => pruneUsage(database, daysAgo(USAGE_DAYS)),
    operations: () => pruneOperations(database, before, BATCH),
    inclusions: () => pruneInclusions(database, before, BATCH),
    bundles: () => pruneBundles(database, before, BATCH),
    history: () => pruneHistory(database, before, BATCH),
    circuits: () => pruneCircuits(database, before, BATCH),
    refusals: () => pruneRefusals(database, before, REFUSALS_PER_APP, BATCH),
    witnesses: () => pruneWitnesses(database, before, REFUSALS_PER_APP, BATCH),
    ...Object.fromEntries(
      Object.entries(tenantPruners).map(([name, pruneSome]) => [
        name,
        () => pruneSome(database, before, BATCH),
      ]),
    ),
  }
}

/** The rows that were deleted, by step. */
type Deleted = Record<keyof ReturnType<typeof stepsOf>, number>

/**
 * Deletes decisions, grants, ended keys, ended apps, ended operations with all that is kept of them, bundles and
 * refusals of that age; refusals and refused decisions beyond an app's share; sessions, invitations and attempts to sign in that are past; and counters that no window reaches. Nothing goes while money is open.
 * A step that fails is logged, and the others still run. Once `signal` is aborted, no further batch begins.
 */
export async function prune(
  context: RetentionContext,
  now: Date,
  signal?: AbortSignal,
): Promise<Deleted> {
  const deleted: Record<string, number> = {}
  for (const [step, deleteSome] of Object.entries(stepsOf(context, now))) {
    let count = 0
    try {
      for (let last = BATCH; last === BATCH && !signal?.aborted; count += last)
        last = await deleteSome()
    } catch (err) {
      context.logger.warn({ err, step }, 'old records could not be deleted')
    }
    deleted[step] = count
  }
  return deleted as Deleted
}

/** Prunes now and every ten minutes. Several processes may do so at once: they skip each other's rows. */
export function startRetention(context: RetentionContext): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let running: Promise<void> | undefined
  const run = (): void => {
    // A run may take longer than the interval.
    running ??= prune(context, new Date(), stopping.signal).then((deleted) => {
      running = undefined
      const counts = Object.entries(deleted).filter(([, count]) => count > 0)
      if (counts.length > 0)
        context.logger.info({ deleted: Object.fromEntries(counts) }, 'old records were deleted')
    })
  }
  run()
  const timer = setInterval(run, INTERVAL)
  return {
    stop: async () => {
      clearInterval(timer)
      stopping.abort()
      await running
    },
  }
}

/**
 * Tables of what must be waited for: the first block of each chain that may still be undone, and the first
 * event of each app that a receiver has not got yet.
 */
const waitedFor = sql`undecided as (
    select chain_id, min(number) as first from chain_blocks where number > 0 group by chain_id
  ), undelivered as (
    select e.app_id, min(e.occurred_at) as first
    from event_deliveries d join events e on e.id = d.event_id
    where d.state = 'pending' group by e.app_id
  )`

/** Whether money of sponsorships is reserved, or charged and not settled, for the sender and nonce of `o`. */
const isReserved = sql`exists (select from reservations r
  where r.chain_id = o.chain_id and r.entry_point = o.entry_point and r.sender = o.sender
    and r.nonce = o.nonce and r.state in ('open', 'included', 'expired'))`

/** Old records are looked at in their order, so many for each that may go: those that must wait are few. */
const LOOK_AHEAD = 5

/**
 * Deletes up to `limit` operations that ended before `before`, each with its inclusion, its history and the
 * receipt of a bundle of somebody else. An operation stays while it is pending, while money is reserved or
 * not settled for its nonce, while its block may be undone, and while an event of its app that is as old
 * was not delivered. Returns how many.
 */
function pruneOperations(db: Database, before: Date, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ chain_id: bigint; hash: Hex }>`with ${waitedFor}, old as (
        select o.chain_id, o.hash from apps a cross join lateral (
          select o.chain_id, o.hash from operations o
          where o.app_id = a.id and o.received_at < ${before} and o.updated_at < ${before}
            and o.state in ('included', 'dropped', 'replaced')
            and o.updated_at < coalesce((select first from undelivered u where u.app_id = a.id), 'infinity')
            and not ${isReserved}
            and not exists (select from inclusions i join undecided b on b.chain_id = i.chain_id
              where i.chain_id = o.chain_id and i.user_op_hash = o.hash and i.block_number >= b.first)
          order by o.received_at limit ${limit}
        ) o limit ${limit}
      )
      select o.chain_id, o.hash from operations o
        join old on old.chain_id = o.chain_id and old.hash = o.hash
      where o.state in ('included', 'dropped', 'replaced') and o.updated_at < ${before}
      for update of o skip locked`.execute(trx)
    const doomed = pairsOf(rows)
    await sql`delete from operation_history h using ${doomed}
      where h.chain_id = e.chain_id and h.hash = e.hash`.execute(trx)
    await deleteInclusions(trx, rows)
    await sql`delete from operations o using ${doomed}
      where o.chain_id = e.chain_id and o.hash = e.hash`.execute(trx)
    return rows.length
  })
}

/** Pairs of chain and hash as table `e` of a statement. */
function pairsOf(rows: readonly { readonly chain_id: bigint; readonly hash: Hex }[]) {
  return sql`unnest(${rows.map(({ chain_id }) => chain_id)}::bigint[],
    ${rows.map(({ hash }) => hash)}::text[]) as e (chain_id, hash)`
}

/** Deletes inclusions, and receipts of others' transactions that no inclusion needs any more. */
async function deleteInclusions(
  trx: Transaction,
  rows: readonly { readonly chain_id: bigint; readonly hash: Hex }[],
): Promise<void> {
  const gone = await sql<{ chain_id: bigint; hash: Hex }>`
    delete from inclusions i using ${pairsOf(rows)}
    where i.chain_id = e.chain_id and i.user_op_hash = e.hash
    returning i.chain_id, i.transaction_hash as hash`.execute(trx)
  await sql`delete from transaction_receipts r using ${pairsOf(gone.rows)}
    where r.chain_id = e.chain_id and r.hash = e.hash and not ${isNeeded}
      and not exists (select from bundle_transactions t
        where t.chain_id = r.chain_id and t.hash = r.hash)`.execute(trx)
}

/** Whether an inclusion is of the transaction of receipt `r`. */
const isNeeded = sql`exists (select from inclusions i where i.chain_id = r.chain_id
  and i.block_number = r.block_number and i.transaction_hash = r.hash)`

/**
 * Deletes up to `limit` inclusions whose block is older than `before`, of operations that we sponsored and
 * others carried, once nothing is reserved for their nonce. Returns how many.
 */
function pruneInclusions(db: Database, before: Date, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ chain_id: bigint; hash: Hex }>`with ${waitedFor}
      select o.chain_id, o.user_op_hash as hash from undecided b cross join lateral (
        select * from inclusions i where i.chain_id = b.chain_id and i.block_number < b.first
        order by i.block_number limit ${limit * LOOK_AHEAD}
      ) o
      where o.block_time < ${before} and not ${isReserved}
        and not exists (select from operations s
          where s.chain_id = o.chain_id and s.hash = o.user_op_hash)
      limit ${limit}`.execute(trx)
    await deleteInclusions(trx, rows)
    return rows.length
  })
}

/**
 * Deletes up to `limit` bundles that ended before `before`, with their signed transactions and receipts,
 * once no operation names them. A signed bundle, and one whose block may be undone, stays. Returns how many.
 */
function pruneBundles(db: Database, before: Date, limit: number): Promise<number> {
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ id: bigint }>`with ${waitedFor}, oldest as (
        select id from bundles order by id limit ${limit * LOOK_AHEAD}
      )
      select b.id from bundles b join oldest on oldest.id = b.id
      where b.updated_at < ${before} and b.state <> 'signed'
        and not exists (select from operations o where ${isOf})
        and not exists (select from transaction_receipts r join undecided u on u.chain_id = r.chain_id
          where r.chain_id = b.chain_id and r.hash = b.transaction_hash and r.block_number >= u.first)
      order by b.id limit ${limit} for update of b skip locked`.execute(trx)
    const isOfBundles = sql`bundle_id = any(${rows.map(({ id }) => id)}::bigint[])`
    const transactions = await sql<{ chain_id: bigint; hash: Hex }>`
      delete from bundle_transactions where ${isOfBundles} returning chain_id, hash`.execute(trx)
    await sql`delete from transaction_receipts r using ${pairsOf(transactions.rows)}
      where r.chain_id = e.chain_id and r.hash = e.hash and not ${isNeeded}`.execute(trx)
    await sql`delete from bundles where id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(
      trx,
    )
    return rows.length
  })
}

/**
 * Deletes up to `limit` entries of what befell operations before `before`, which no operation is left for.
 * Returns how many.
 */
async function pruneHistory(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`with oldest as (
      select * from operation_history order by id limit ${limit * LOOK_AHEAD}
    )
    delete from operation_history where id in (
      select h.id from oldest h where h.at < ${before} and not exists (select from operations o
        where o.chain_id = h.chain_id and o.hash = h.hash)
      order by h.id limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}

/** Deletes up to `limit` changes of circuits before `before`. Returns how many. */
async function pruneCircuits(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from webhook_circuits where id in (
    select id from webhook_circuits where at < ${before} order by at limit ${limit})`.execute(db)
  return Number(numAffectedRows)
}

/** A table with its size on disk. */
type TableSize = {
  readonly name: string
  /** As the server estimates it; null where it has not analyzed the table and has no statistics. */
  readonly rows: bigint | null
  /** Bytes of the rows, also of those that were moved out of line. */
  readonly bytes: bigint
  readonly indexBytes: bigint
}

/** The tables of Purser, the largest first. Reads no rows. */
export async function tableSizes(db: Database): Promise<readonly TableSize[]> {
  const { rows } = await sql<TableSize>`
    select c.relname as name, pg_table_size(c.oid) as bytes, pg_indexes_size(c.oid) as "indexBytes",
      case
        when c.reltuples >= 0 then c.reltuples::bigint
        when pg_relation_size(c.oid) = 0 then 0
        else nullif(pg_stat_get_live_tuples(c.oid), 0)
      end as rows
    from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    order by pg_total_relation_size(c.oid) desc, c.relname`.execute(db)
  return rows
}

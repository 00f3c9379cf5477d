import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database, Transaction } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import type { CounterKey } from './budgetCounters.js'

/**
 * `open`: can still be included; `included`, `expired`: ended by its block, which a reorganisation can undo;
 * `settled`, `released`: ended for good.
 */
export type ReservationState = Schema['reservations']['state']

/** The account at an EntryPoint that pays for operations. */
export type Payer = {
  readonly chainId: number
  readonly entryPoint: Address
  /** The zero address when no paymaster pays. */
  readonly paymaster: Address
}

/** The nonce of a sender that an app sponsors from a payer; at most one operation can take it. */
export type ReservationSlot = Payer & {
  readonly appId: string
  readonly sender: Address
  readonly nonce: bigint
}

/** A block and the payer's deposit (wei) after it. */
export type DepositAtHead = {
  /** undefined = the payer has no deposit, which then sets no bound */
  readonly deposit: bigint | undefined
  readonly blockNumber: bigint
  /** Unix seconds */
  readonly timestamp: number
}

export type LiveReservation = {
  readonly id: bigint
  readonly state: ReservationState
  /** wei */
  readonly maxCost: bigint
  readonly validUntil: bigint
  /** Block in which it ended; null while open. */
  readonly blockNumber: bigint | null
  /** How often it was sponsored, up to `MOST_SPONSORSHIPS`. */
  readonly sponsorships: number
}

/** The most sponsorships of one reservation; more need not be counted. */
export const MOST_SPONSORSHIPS = 1_000

/** The SQL condition that a reservation is live. */
export const isLiveReservation = sql<boolean>`state in ('open', 'included', 'expired')`

/**
 * Locks names (of policies, credits, tokens) until the transaction ends: no reservation under them is
 * decided in any other transaction, in any process. Locks are taken in one order.
 */
export async function lockReserving(trx: Transaction, names: readonly string[]): Promise<void> {
  await advisoryLocks(names).execute(trx)
}

/** The statement that takes the locks of `lockReserving`. */
export function advisoryLocks(names: readonly string[]) {
  return sql`select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended('reserve ' || name, 0) as key
    from unnest(${names}::text[]) as name order by key) as keys`
}

/** The amount that a reservation holds of a counter. */
export type HeldBudget = CounterKey & { readonly reservationId: bigint; readonly amount: bigint }

/** The largest charge of each of these reservations to each counter. */
export async function chargesHeld(
  db: Database,
  reservationIds: readonly bigint[],
): Promise<readonly HeldBudget[]> {
  const { rows } = await sql<HeldBudget>`
    select reservation_id as "reservationId", policy_id as "policyId", budget, subject, bucket,
      max(amount) as amount
    from charges where reservation_id = any(${reservationIds}::bigint[])
    group by reservation_id, policy_id, budget, subject, bucket`.execute(db)
  return rows
}

/** Whether the ledger holds `wei` of the payer's deposit for the operation of this sender and nonce. */
export async function isReserved(
  db: Database,
  { chainId, entryPoint, paymaster, sender, nonce }: Omit<ReservationSlot, 'appId'>,
  wei: bigint,
): Promise<boolean> {
  const row = await db
    .selectFrom('reservations')
    .select('id')
    .where('chain_id', '=', BigInt(chainId))
    .where('entry_point', '=', entryPoint)
    .where('sender', '=', sender)
    .where('nonce', '=', nonce)
    .where('paymaster', '=', paymaster)
    .where('max_cost', '>=', wei)
    .where(isLiveReservation)
    .where(sql<boolean>`state = 'open'`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Can any operation that we sponsored still be included on the chain? */
export function hasOpenReservations(chainId: number) {
  return sql<boolean>`exists (select from reservations where chain_id = ${chainId} and state = 'open')`
}

/** Has a reservation expired at a block of this time (Unix seconds), or become final at the block `final`? */
export function endsReservations(
  chainId: number,
  { timestamp, final }: { readonly timestamp: number; readonly final: bigint },
) {
  return sql<boolean>`(exists (select from reservations
      where chain_id = ${chainId} and state = 'open' and valid_until < ${timestamp}::bigint)
    or exists (select from reservations where chain_id = ${chainId}
      and block_number <= ${final} and state in ('included', 'expired')))`
}

/** A reservation whose time has passed, for which no inclusion is known. */
export type ExpiredReservation = Pick<ReservationSlot, 'entryPoint' | 'sender' | 'nonce'> & {
  readonly id: bigint
  /** The first indexed block after its time. */
  readonly blockNumber: bigint
  readonly createdAt: Date
}

/** The oldest reservations that expired by block `final` and still hold their amounts. */
export async function expiredReservations(
  db: Database,
  chainId: number,
  final: bigint,
  limit: number,
): Promise<readonly ExpiredReservation[]> {
  const { rows } = await sql<ExpiredReservation>`
    select id, entry_point as "entryPoint", sender, nonce, block_number as "blockNumber",
      created_at as "createdAt"
    from reservations
    where chain_id = ${chainId} and state = 'expired' and block_number <= ${final}
    order by block_number, id limit ${limit}`.execute(db)
  return rows
}

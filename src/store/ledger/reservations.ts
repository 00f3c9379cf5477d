import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database, Transaction } from '../database.js'
import type { ReservationState } from '../schema.js'
import type { CounterKey } from './budgetCounters.js'

/** Who pays, where. */
export type Payer = {
  readonly chainId: number
  readonly entryPoint: Address
  /** The zero address when no paymaster pays. */
  readonly paymaster: Address
}

/** Of all sponsorships of a slot, at most one can be included. */
export type ReservationSlot = Payer & {
  readonly appId: string
  readonly sender: Address
  readonly nonce: bigint
}

/** A block and what the payer's deposit was then (wei). */
export type DepositAtHead = {
  /** undefined = the payer has none, so none bounds it */
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
  /** Where it ended; null while open. */
  readonly blockNumber: bigint | null
}

export const live = sql<boolean>`state in ('open', 'included', 'expired')`

/**
 * Until the transaction ends, no other reservation is decided for these names (policies, credits,
 * tokens), in any process. Locks are taken in one order.
 */
export async function lockReserving(trx: Transaction, names: readonly string[]): Promise<void> {
  await advisoryLocks(names).execute(trx)
}

/** The same as a statement. */
export function advisoryLocks(names: readonly string[]) {
  return sql`select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended('reserve ' || name, 0) as key
    from unnest(${names}::text[]) as name order by key) as keys`
}

/** What a reservation holds of a counter. */
export type HeldBudget = CounterKey & { readonly reservationId: bigint; readonly amount: bigint }

/** The dearest charge of each of these reservations to each counter. */
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

/** Can any operation that we sponsored still be included on the chain? */
export async function hasOpenReservations(db: Database, chainId: number): Promise<boolean> {
  const row = await db
    .selectFrom('reservations')
    .select('id')
    .where('chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`state = 'open'`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

import { type Kysely, sql } from 'kysely'
import type { Address } from 'viem'
import type { CounterKey } from './budgetCounters.js'
import type { ReservationState, Schema } from './schema.js'

type Trx = Kysely<Schema>

/** Who pays, where. */
export type Payer = {
  readonly chainId: number
  readonly entryPoint: Address
  /** The zero address when no paymaster pays. */
  readonly paymaster: Address
}

/** Of all sponsorships of a slot, at most one can be included. */
export type Slot = Payer & {
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
}

export const live = sql<boolean>`state in ('open', 'included', 'expired')`

/**
 * Until the transaction ends, no other reservation is decided for these payers and policies, in any
 * process. Locks are taken in one order.
 */
export const lockReserving = async (trx: Trx, names: readonly string[]): Promise<void> => {
  await sql`select pg_advisory_xact_lock(key) from (
    select distinct hashtextextended('reserve ' || name, 0) as key
    from unnest(${names}::text[]) as name order by key) as keys`.execute(trx)
}

/** Nothing ends this reservation before the transaction does. */
export const lockReservation = async (trx: Trx, id: bigint): Promise<void> => {
  await sql`select from reservations where id = ${id} for no key update`.execute(trx)
}

/**
 * wei that live reservations take from the payer's deposit as it was at `head`. Deposit, inclusions
 * and expiry are taken at one block: what was included later, or can still be, has not been charged
 * to that deposit.
 */
export const lockedOf = async (
  db: Trx,
  payer: Payer,
  head: Pick<DepositAtHead, 'blockNumber' | 'timestamp'>,
): Promise<bigint> => {
  const { rows } = await sql<{ locked: bigint }>`
    select coalesce(sum(max_cost), 0)::numeric(78, 0) as locked
    from reservations where ${locking(payer, head)}`.execute(db)
  return rows[0]?.locked ?? 0n
}

/** Reservations that may still be charged to the payer's deposit as it was at `head`. */
export const locking = (
  { chainId, entryPoint, paymaster }: Payer,
  head: Pick<DepositAtHead, 'blockNumber' | 'timestamp'>,
) => sql<boolean>`chain_id = ${BigInt(chainId)} and entry_point = ${entryPoint}
    and paymaster = ${paymaster} and valid_until >= ${BigInt(head.timestamp)} and ${live}
    and (block_number is null or state <> 'included' or block_number > ${head.blockNumber})`

/** The dearest charge of a reservation to each counter. */
export const chargesHeld = async (
  trx: Trx,
  reservationId: bigint,
): Promise<(CounterKey & { readonly amount: bigint })[]> => {
  const { rows } = await sql<CounterKey & { amount: bigint }>`
    select policy_id as "policyId", budget, subject, bucket, max(amount) as amount
    from charges where reservation_id = ${reservationId}
    group by policy_id, budget, subject, bucket`.execute(trx)
  return rows
}

/** Can any operation that we sponsored still be included on the chain? */
export const hasOpenReservations = async (db: Trx, chainId: number): Promise<boolean> => {
  const row = await db
    .selectFrom('reservations')
    .select('id')
    .where('chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`state = 'open'`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

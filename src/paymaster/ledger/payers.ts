import { type RawBuilder, sql } from 'kysely'
import type { Database, Transaction } from '../../db/database.js'
import { advisoryLocks, type Payer } from './reservations.js'

/** A block, which decides which reservations still lock an amount. */
export type Moment = {
  readonly blockNumber: bigint
  /** Unix seconds */
  readonly timestamp: number
}

/** The amount (wei) that a payer's live reservations lock at a moment. */
export type LockedAt = Moment & { readonly locked: bigint }

/**
 * Locks a payer and policies until the transaction ends: no other transaction, in any process, reserves
 * from this payer or under these policies, or ends or reopens a reservation of the payer. All lock the
 * policies first and then the payer, so that no two transactions wait for each other.
 */
export async function lockPayer(
  trx: Transaction,
  payer: Payer,
  policies: readonly string[],
): Promise<void> {
  // The condition is evaluated before the payer is looked for, so policies come first also for a new one.
  const lock = () =>
    sql`with policies as materialized (${advisoryLocks(policies)})
      select from payers r where ${isOfPayer(payer)} and (select count(*) from policies) >= 0
      for no key update`.execute(trx)
  if ((await lock()).rows.length > 0) return
  await sql`insert into payers (chain_id, entry_point, paymaster, locked, block_number, timestamp)
    values (${BigInt(payer.chainId)}, ${payer.entryPoint}, ${payer.paymaster}, 0, -1, 0)
    on conflict do nothing`.execute(trx)
  await lock()
}

/**
 * Amounts (wei) that live reservations lock of the payer's deposit as it was at each moment. Deposit,
 * inclusions and expiry belong to one block: an operation that was included later, or can still be,
 * has not been charged to that deposit.
 */
export async function lockedAt(
  db: Database,
  payer: Payer,
  moments: readonly Moment[],
): Promise<bigint[]> {
  const { rows } = await sql<{ locked: string[] }>`
    select ${lockedAtEach(payer, moments)} as locked`.execute(db)
  const locked = rows[0]?.locked.map(BigInt) ?? []
  // A payer that is not known has never had a reservation.
  return moments.map((_, place) => locked[place] ?? 0n)
}

/**
 * The amounts of `lockedAt` as an SQL array of texts, empty when the payer is not known. The row of the
 * payer holds the amount of one moment. The amount of another moment differs from it by the
 * reservations that expired (`passed`) or were included (`taken`) between the two.
 */
export function lockedAtEach(payer: Payer, moments: readonly Moment[]) {
  return sql`array(
    select (p.locked + passed.amount + taken.amount)::text
    from payers p cross join unnest(
        ${moments.map(({ blockNumber }) => blockNumber)}::bigint[],
        ${moments.map(({ timestamp }) => BigInt(timestamp))}::bigint[]
      ) with ordinality as m (block_number, timestamp, place)
    cross join lateral (
      select coalesce(sum(${lockedBy('m')} - ${lockedBy('p')}), 0) as amount from reservations r
      where ${isOfPayer(payer)} and r.state in ('open', 'included', 'expired')
        and r.valid_until >= least(p.timestamp, m.timestamp)
        and r.valid_until < greatest(p.timestamp, m.timestamp)) as passed
    cross join lateral (
      select coalesce(sum(${lockedBy('m')} - ${lockedBy('p')}), 0) as amount from reservations r
      where ${isOfPayer(payer)} and r.state = 'included'
        and r.block_number > least(p.block_number, m.block_number)
        and r.block_number <= greatest(p.block_number, m.block_number)
        and (r.valid_until < least(p.timestamp, m.timestamp)
          or r.valid_until >= greatest(p.timestamp, m.timestamp))) as taken
    where ${isOfPayer(payer, 'p')}
    order by m.place)`
}

/** A part of a statement that stores the amount locked at the latest known moment; the payer is locked. */
export function keepLocked(payer: Payer, { blockNumber, timestamp, locked }: LockedAt) {
  return sql`update payers r set locked = ${locked}::numeric, block_number = ${blockNumber}::bigint,
    timestamp = ${BigInt(timestamp)}::bigint where ${isOfPayer(payer)}`
}

/** Locks the payers of these reservations until the transaction ends. */
export async function lockPayersOf(trx: Transaction, ids: readonly bigint[]): Promise<void> {
  await sql`select from payers where (chain_id, entry_point, paymaster) in (
      select chain_id, entry_point, paymaster from reservations where id = any(${ids}::bigint[]))
    order by chain_id, entry_point, paymaster for no key update`.execute(trx)
}

/** The part that some reservations of a payer have in its stored amount. */
type Share = { readonly payer: Payer; readonly locked: bigint }

/** The shares of these reservations, by payer; the payers are locked. */
export async function sharesOf(trx: Transaction, ids: readonly bigint[]): Promise<Share[]> {
  const { rows } = await sql<{ chainId: bigint; locked: bigint } & Omit<Payer, 'chainId'>>`
    select p.chain_id as "chainId", p.entry_point as "entryPoint", p.paymaster,
      sum(${lockedBy('p')}) as locked
    from reservations r join payers p
      on (p.chain_id, p.entry_point, p.paymaster) = (r.chain_id, r.entry_point, r.paymaster)
    where r.id = any(${ids}::bigint[])
    group by p.chain_id, p.entry_point, p.paymaster`.execute(trx)
  return rows.map(({ chainId, locked, ...rest }) => ({
    payer: { chainId: Number(chainId), ...rest },
    locked,
  }))
}

/** Adds the difference between the shares `after` and `before` a change to the payers' amounts. */
export async function addShares(
  trx: Transaction,
  before: readonly Share[],
  after: readonly Share[],
): Promise<void> {
  const changes = [...before.map((share) => ({ ...share, locked: -share.locked })), ...after]
  await sql`update payers p set locked = p.locked + d.locked
    from (select chain_id, entry_point, paymaster, sum(locked) as locked from unnest(
        ${changes.map(({ payer }) => BigInt(payer.chainId))}::bigint[],
        ${changes.map(({ payer }) => payer.entryPoint)}::text[],
        ${changes.map(({ payer }) => payer.paymaster)}::text[],
        ${changes.map(({ locked }) => locked)}::numeric[]) as c (chain_id, entry_point, paymaster, locked)
      group by chain_id, entry_point, paymaster having sum(locked) <> 0) as d
    where (p.chain_id, p.entry_point, p.paymaster) = (d.chain_id, d.entry_point, d.paymaster)`.execute(
    trx,
  )
}

/** The amount (wei) that reservation `r` locks at the moment in the row `moment`. */
function lockedBy(moment: 'm' | 'p'): RawBuilder<bigint> {
  const timestamp = sql.ref(`${moment}.timestamp`)
  const block = sql.ref(`${moment}.block_number`)
  return sql<bigint>`case when r.state in ('open', 'included', 'expired') and r.valid_until >= ${timestamp}
      and (r.state <> 'included' or r.block_number > ${block}) then r.max_cost else 0 end`
}

/** The condition that rows of `table` belong to the payer. */
function isOfPayer({ chainId, entryPoint, paymaster }: Payer, table = 'r') {
  return sql<boolean>`
  ${sql.ref(`${table}.chain_id`)} = ${BigInt(chainId)}
  and ${sql.ref(`${table}.entry_point`)} = ${entryPoint}
  and ${sql.ref(`${table}.paymaster`)} = ${paymaster}`
}

import { type RawBuilder, sql } from 'kysely'
import type { Database, Transaction } from '../database.js'
import { advisoryLocks, type Payer } from './reservations.js'

/** A block, as far as it says what a reservation still locks. */
export type Moment = {
  readonly blockNumber: bigint
  /** Unix seconds */
  readonly timestamp: number
}

/** What a payer's live reservations lock at a moment, in wei. */
export type LockedAt = Moment & { readonly locked: bigint }

/**
 * Until the transaction ends, nobody else reserves from this payer, ends or reopens a reservation of
 * it, or reserves anything under these policies, in any process. Everybody locks the policies first and
 * then the payer, so none waits for another in a circle.
 */
export async function lockPayer(
  trx: Transaction,
  payer: Payer,
  policies: readonly string[],
): Promise<void> {
  // The condition is judged before the payer is looked for, so policies come first also for a new one.
  // What follows is long, and its plan is the same for one sponsorship and for many: planning it for
  // each would cost more than carrying it out.
  const lock = () =>
    sql`with policies as materialized (${advisoryLocks(policies)})
      select set_config('plan_cache_mode', 'force_generic_plan', true)
      from payers r where ${is(payer)} and (select count(*) from policies) >= 0
      for no key update`.execute(trx)
  if ((await lock()).rows.length > 0) return
  await sql`insert into payers (chain_id, entry_point, paymaster, locked, block_number, timestamp)
    values (${BigInt(payer.chainId)}, ${payer.entryPoint}, ${payer.paymaster}, 0, -1, 0)
    on conflict do nothing`.execute(trx)
  await lock()
}

/**
 * wei that live reservations take from the payer's deposit as it was at each moment. Deposit,
 * inclusions and expiry are taken at one block: what was included later, or can still be, has not been
 * charged to that deposit.
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
 * The same as an array of texts, empty when the payer is not known. The amount that is kept is that of
 * one moment; only what ended between that one and the moment asked for is looked at.
 */
export function lockedAtEach(payer: Payer, moments: readonly Moment[]) {
  return sql`array(
    select (p.locked + passed.amount + taken.amount)::text
    from payers p cross join unnest(
        ${moments.map(({ blockNumber }) => blockNumber)}::bigint[],
        ${moments.map(({ timestamp }) => BigInt(timestamp))}::bigint[]
      ) with ordinality as m (block_number, timestamp, place)
    cross join lateral (
      select coalesce(sum(${locks('m')} - ${locks('p')}), 0) as amount from reservations r
      where ${is(payer)} and r.state in ('open', 'included', 'expired')
        and r.valid_until >= least(p.timestamp, m.timestamp)
        and r.valid_until < greatest(p.timestamp, m.timestamp)) as passed
    cross join lateral (
      select coalesce(sum(${locks('m')} - ${locks('p')}), 0) as amount from reservations r
      where ${is(payer)} and r.state = 'included'
        and r.block_number > least(p.block_number, m.block_number)
        and r.block_number <= greatest(p.block_number, m.block_number)
        and (r.valid_until < least(p.timestamp, m.timestamp)
          or r.valid_until >= greatest(p.timestamp, m.timestamp))) as taken
    where ${is(payer, 'p')}
    order by m.place)`
}

/** Writes what a locked payer's reservations lock at the latest moment that is known, as a part of a statement. */
export function keepLocked(payer: Payer, { blockNumber, timestamp, locked }: LockedAt) {
  return sql`update payers r set locked = ${locked}::numeric, block_number = ${blockNumber}::bigint,
    timestamp = ${BigInt(timestamp)}::bigint where ${is(payer)}`
}

/** Nobody else changes reservations of the payers of these ones before the transaction ends. */
export async function lockPayersOf(trx: Transaction, ids: readonly bigint[]): Promise<void> {
  await sql`select from payers where (chain_id, entry_point, paymaster) in (
      select chain_id, entry_point, paymaster from reservations where id = any(${ids}::bigint[]))
    order by chain_id, entry_point, paymaster for no key update`.execute(trx)
}

/** What reservations of a payer contribute to the amount that is kept for it. */
type Share = { readonly payer: Payer; readonly locked: bigint }

/** Of these reservations, by payer; the payers are locked. */
export async function sharesOf(trx: Transaction, ids: readonly bigint[]): Promise<Share[]> {
  const { rows } = await sql<{ chainId: bigint; locked: bigint } & Omit<Payer, 'chainId'>>`
    select p.chain_id as "chainId", p.entry_point as "entryPoint", p.paymaster,
      sum(${locks('p')}) as locked
    from reservations r join payers p
      on (p.chain_id, p.entry_point, p.paymaster) = (r.chain_id, r.entry_point, r.paymaster)
    where r.id = any(${ids}::bigint[])
    group by p.chain_id, p.entry_point, p.paymaster`.execute(trx)
  return rows.map(({ chainId, locked, ...rest }) => ({
    payer: { chainId: Number(chainId), ...rest },
    locked,
  }))
}

/** Adds to the payers' amounts what became of `before`. */
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

/** What reservation `r` locks at the moment that a row of that name tells, in wei. */
function locks(moment: 'm' | 'p'): RawBuilder<bigint> {
  const at = sql.ref(`${moment}.timestamp`)
  const block = sql.ref(`${moment}.block_number`)
  return sql<bigint>`case when r.state in ('open', 'included', 'expired') and r.valid_until >= ${at}
      and (r.state <> 'included' or r.block_number > ${block}) then r.max_cost else 0 end`
}

function is({ chainId, entryPoint, paymaster }: Payer, table = 'r') {
  return sql<boolean>`
  ${sql.ref(`${table}.chain_id`)} = ${BigInt(chainId)}
  and ${sql.ref(`${table}.entry_point`)} = ${entryPoint}
  and ${sql.ref(`${table}.paymaster`)} = ${paymaster}`
}

import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../db/database.js'

/** How many rows of the books disagree with other rows. */
type Disagreements = {
  /** Sponsorships that were charged otherwise than their operations cost. */
  readonly charged: bigint
  /** Funds whose credit is not the sum of what was booked. */
  readonly credited: bigint
  /** Payers that have less reserved than their sponsorships may take. */
  readonly locked: bigint
}

export async function countDisagreements(db: Database): Promise<Disagreements> {
  const { rows } = await sql<Disagreements>`select
    (select count(*) from reservations r join inclusions i
      on (i.chain_id, i.user_op_hash) = (r.chain_id, r.user_op_hash)
      where r.state in ('included', 'settled') and r.actual_cost > 0
        and r.paymaster = i.paymaster and r.paymaster in (select address from tanks)
        and r.actual_cost + r.rebate <> i.actual_gas_cost) as charged,
    (select count(*) from funds f where f.credited <>
      (select coalesce(sum(amount), 0) from credits c where c.fund_id = f.id)) as credited,
    (select count(*) from payers p where p.locked <
      (select coalesce(sum(max_cost), 0) from reservations r
        where (r.chain_id, r.entry_point, r.paymaster) = (p.chain_id, p.entry_point, p.paymaster)
          and r.state in ('open', 'included', 'expired') and r.valid_until >= p.timestamp
          and not (r.state = 'included' and r.block_number <= p.block_number))) as locked`.execute(
    db,
  )
  return rows[0] ?? { charged: 0n, credited: 0n, locked: 0n }
}

/** The chains that the books know. */
export async function bookedChains(db: Database): Promise<readonly number[]> {
  const { rows } = await sql<{ id: bigint }>`
    select chain_id as id from chain_blocks union select chain_id from inclusions
    union select chain_id from tanks order by id`.execute(db)
  return rows.map(({ id }) => Number(id))
}

/** The blocks that a service followed last, newest first. */
export function followedBlocks(db: Database, chainId: number, limit: number) {
  return db
    .selectFrom('chain_blocks')
    .select(['number', 'hash'])
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()
}

export type BookedInclusion = {
  readonly hash: Hex
  readonly transactionHash: Hex
  readonly blockHash: Hex
  /** wei that were charged */
  readonly cost: bigint
  /** Whether the call succeeded. */
  readonly success: boolean
}

/** The inclusions of the newest blocks. */
export function newestInclusions(
  db: Database,
  chainId: number,
  limit: number,
): Promise<readonly BookedInclusion[]> {
  return db
    .selectFrom('inclusions')
    .select([
      'user_op_hash as hash',
      'transaction_hash as transactionHash',
      'block_hash as blockHash',
      'actual_gas_cost as cost',
      'success',
    ])
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('block_number', 'desc')
    .limit(limit)
    .execute()
}

/** What signed sponsorships may still take from each tank. */
export async function reservedByTank(db: Database, chainId: number) {
  const { rows } = await sql<{
    readonly address: Address
    readonly entryPoint: Address
    /** wei */
    readonly reserved: bigint
  }>`
    select t.address, t.entry_point as "entryPoint", sum(r.max_cost)::numeric(78, 0) as reserved
    from tanks t join reservations r on (r.chain_id, r.entry_point, r.paymaster)
      = (t.chain_id, t.entry_point, t.address)
    where t.chain_id = ${BigInt(chainId)} and r.state = 'open'
      and r.valid_until >= extract(epoch from now())
    group by t.address, t.entry_point`.execute(db)
  return rows
}

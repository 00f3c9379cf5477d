import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database } from '../db/database.js'
import type { Payer } from '../paymaster/ledger/reservations.js'

/** What a tank paid for one sender without a sponsorship in the books. */
export type Unbooked = {
  readonly sender: Address
  readonly operations: number
  /** wei */
  readonly paid: bigint
  readonly firstBlock: bigint
  readonly lastBlock: bigint
}

/** Senders that are listed at most. */
const MOST = 1_000

/**
 * The included operations that a tank paid for and that no sponsorship of the books is of, by sender, the largest sum
 * first: those that were sponsored after the backup from which the database was restored. No budget and no credit was charged for
 * them. Inclusions from before the oldest reservation are left out: their reservations were deleted with age.
 */
export async function listUnbooked(
  db: Database,
  { chainId, entryPoint, paymaster }: Payer,
): Promise<Unbooked[]> {
  const { rows } = await sql<Unbooked>`
    select i.sender, count(*)::int as operations,
      sum(i.actual_gas_cost)::numeric(78, 0) as paid,
      min(i.block_number) as "firstBlock", max(i.block_number) as "lastBlock"
    from inclusions i
    where i.chain_id = ${BigInt(chainId)} and i.entry_point = ${entryPoint}
      and i.paymaster = ${paymaster}
      and i.block_time >= (select coalesce(min(created_at), '-infinity') from reservations)
      and not exists (select from reservations r
        where (r.chain_id, r.entry_point, r.sender, r.nonce)
            = (i.chain_id, i.entry_point, i.sender, i.nonce)
          and r.paymaster = i.paymaster and r.user_op_hash = i.user_op_hash)
    group by i.sender order by paid desc, i.sender limit ${MOST}`.execute(db)
  return rows
}

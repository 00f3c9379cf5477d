import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { Database, Transaction } from '../../db/database.js'

/** The promise that we pay for an operation with zero fees and no paymaster. */
export type Grant = {
  readonly chainId: number
  readonly userOpHash: Hex
  readonly appId: string
  /** wei per gas: what a bundle that carries it may cost at most. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Unix seconds */
  readonly validUntil: number
}

/** Stores grants; a later grant of an app for the same operation replaces its earlier one. */
export async function putGrants(trx: Transaction, grants: readonly Grant[]): Promise<void> {
  // One statement must not change a row twice.
  const latest = new Map(
    grants.map((grant) => [`${grant.chainId} ${grant.userOpHash} ${grant.appId}`, grant]),
  )
  if (latest.size === 0) return
  const rows = [...latest.values()]
  await sql`insert into grants (chain_id, user_op_hash, app_id, max_fee_per_gas,
      max_priority_fee_per_gas, valid_until)
    select * from unnest(
      ${rows.map(({ chainId }) => BigInt(chainId))}::bigint[],
      ${rows.map(({ userOpHash }) => userOpHash)}::text[],
      ${rows.map(({ appId }) => appId)}::uuid[],
      ${rows.map(({ maxFeePerGas }) => maxFeePerGas)}::numeric[],
      ${rows.map(({ maxPriorityFeePerGas }) => maxPriorityFeePerGas)}::numeric[],
      ${rows.map(({ validUntil }) => BigInt(validUntil))}::bigint[])
    on conflict (chain_id, user_op_hash, app_id) do update set
      max_fee_per_gas = excluded.max_fee_per_gas,
      max_priority_fee_per_gas = excluded.max_priority_fee_per_gas,
      valid_until = excluded.valid_until`.execute(trx)
}

/** The grant for an operation that the app sends at `now` (Unix seconds). */
export async function findGrant(
  db: Database,
  { chainId, userOpHash, appId }: Pick<Grant, 'chainId' | 'userOpHash' | 'appId'>,
  now: number,
): Promise<Grant | undefined> {
  const row = await db
    .selectFrom('grants')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .where('user_op_hash', '=', userOpHash)
    .where('app_id', '=', appId)
    .where('valid_until', '>=', BigInt(now))
    .executeTakeFirst()
  return (
    row && {
      chainId,
      userOpHash,
      appId,
      maxFeePerGas: row.max_fee_per_gas,
      maxPriorityFeePerGas: row.max_priority_fee_per_gas,
      validUntil: Number(row.valid_until),
    }
  )
}

/** The maximum fee (wei per gas) of each of these operations that has a grant, the highest of several apps. */
export async function grantedFees(
  db: Database,
  chainId: number,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, bigint>> {
  if (hashes.length === 0) return new Map()
  const rows = await db
    .selectFrom('grants')
    .select('user_op_hash')
    .select(({ fn }) => fn.max('max_fee_per_gas').as('max_fee_per_gas'))
    .where('chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`user_op_hash = any(${hashes}::text[])`)
    .groupBy('user_op_hash')
    .execute()
  return new Map(rows.map((row) => [row.user_op_hash, row.max_fee_per_gas]))
}

/** Deletes up to `limit` grants that ended before `before` (Unix seconds). Returns how many. */
export async function pruneGrants(db: Database, before: number, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from grants g using (
      select chain_id, user_op_hash, app_id from grants where valid_until < ${before}
      order by valid_until limit ${limit} for update skip locked
    ) d
    where (g.chain_id, g.user_op_hash, g.app_id)
      = (d.chain_id, d.user_op_hash, d.app_id)`.execute(db)
  return Number(numAffectedRows)
}

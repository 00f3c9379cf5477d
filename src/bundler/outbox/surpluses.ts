import { type Expression, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, Transaction, TransactionExecutor } from '../../db/database.js'

/** wei that a bundle of ours charged an app's own tank beyond its share of the bundle's fixed costs. */
export type Surplus = {
  readonly transactionHash: Hex
  readonly entryPoint: Address
  readonly tank: Address
  readonly blockNumber: bigint
  readonly amount: bigint
}

/** Books surpluses; one that is booked already stays as it is. */
export async function putSurpluses(
  trx: Transaction,
  chainId: number,
  surpluses: readonly Surplus[],
): Promise<void> {
  if (surpluses.length === 0) return
  await trx
    .insertInto('surpluses')
    .values(
      surpluses.map(({ transactionHash, entryPoint, tank, blockNumber, amount }) => ({
        chain_id: BigInt(chainId),
        transaction_hash: transactionHash,
        entry_point: entryPoint,
        tank,
        block_number: blockNumber,
        amount,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/**
 * Undoes the blocks above `fork`, -1 = a whole chain. What is being returned, or was, stays: its block was final, and is
 * undone only because the index took many blocks in one step. It must not be booked, and returned, once more.
 */
export async function undoSurpluses(
  trx: Transaction,
  chainId: number,
  fork: bigint,
): Promise<void> {
  await sql`delete from surpluses where chain_id = ${chainId} and block_number > ${fork}
    and (bundle_id is null or ${fork}::bigint < 0)`.execute(trx)
}

/** What is owed to a tank, and the names of its surpluses: of each, transaction and tank. */
export type OwedSurplus = {
  readonly entryPoint: Address
  readonly tank: Address
  /** wei */
  readonly amount: bigint
  readonly names: readonly Hex[]
}

/** Is a sum owed to a tank by bundles up to the block `final` that is not being returned? */
export function owesSurplus(chainId: number, final: bigint) {
  return sql<boolean>`exists (select from surpluses
    where chain_id = ${chainId} and block_number <= ${final} and bundle_id is null)`
}

/**
 * The largest sum that is owed to a tank by bundles up to the block `final` and is not being returned. A tank has few rows:
 * they are returned when they are worth a transaction.
 */
export async function mostOwed(
  db: Database,
  chainId: number,
  final: bigint,
): Promise<OwedSurplus | undefined> {
  const { rows } = await sql<OwedSurplus>`
    select entry_point as "entryPoint", tank, sum(amount)::numeric(78, 0) as amount,
      array_agg(transaction_hash || tank) as names
    from surpluses
    where chain_id = ${chainId} and block_number <= ${final} and bundle_id is null
    group by entry_point, tank order by 3 desc limit 1`.execute(db)
  return rows[0]
}

/** The statement that gives surpluses to the transaction that returns them; its rows are those that were owed. */
export function claimSurpluses(
  chainId: number,
  names: readonly Hex[],
  bundleId: Expression<bigint>,
) {
  return sql`update surpluses set bundle_id = ${bundleId}
    where chain_id = ${chainId} and bundle_id is null
      and transaction_hash || tank = any(${names}::text[]) returning 1`
}

/** Surpluses are owed again whose transaction ended without returning them. */
export async function releaseSurpluses(
  trx: TransactionExecutor,
  bundleIds: readonly bigint[],
): Promise<void> {
  await sql`update surpluses set bundle_id = null
    where bundle_id = any(${bundleIds}::bigint[])`.execute(trx)
}

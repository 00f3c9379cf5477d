import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Transaction } from '../database.js'

/** The scope of a limit: the pool, an app, or (in wei) a paymaster at an EntryPoint. */
export type Scope = 'pool' | 'app' | 'paymaster'

/** The names under which bounds are stored. */
export const scopeNames = {
  pool: 'pool',
  app: (appId: string) => `app ${appId}`,
  paymaster: (entryPoint: Address, paymaster: Address) => `paymaster ${entryPoint} ${paymaster}`,
}

/** The number of live operations of the chain. */
export async function countPool(trx: Transaction, chainId: number): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from operations
    where chain_id = ${chainId} and state in ('pooled', 'bundled')`.execute(trx)
  return rows[0]!.count
}

/** The number of live operations of an app. */
export async function countApp(trx: Transaction, chainId: number, appId: string): Promise<bigint> {
  // The last condition is that of the index; every id is above it.
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from operations
    where chain_id = ${chainId} and app_id = ${appId} and state in ('pooled', 'bundled')
      and app_id > '00000000-0000-0000-0000-000000000000'`.execute(trx)
  return rows[0]!.count
}

/** wei that a paymaster's live operations may take from its deposit. */
export async function sumPaymaster(
  trx: Transaction,
  chainId: number,
  entryPoint: Address,
  paymaster: Address,
): Promise<bigint> {
  const { rows } = await sql<{ sum: bigint }>`select coalesce(sum(prefund), 0) as sum
    from operations where chain_id = ${chainId} and entry_point = ${entryPoint}
    and paymaster = ${paymaster} and state in ('pooled', 'bundled')`.execute(trx)
  return rows[0]!.sum
}

/** Forgets the bounds, so that the pool is counted anew after operations became live without an admission. */
export async function forgetBounds(trx: Transaction, chainId: number): Promise<void> {
  await sql`delete from pool_bounds where chain_id = ${chainId}`.execute(trx)
}

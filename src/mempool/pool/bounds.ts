import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database, Transaction, TransactionExecutor } from '../../db/database.js'
import { lockTurn } from '../../db/lockTurn.js'

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
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from live_operations
    where chain_id = ${chainId}`.execute(trx)
  return rows[0]!.count
}

/** The number of live operations of an app. */
export async function countApp(trx: Transaction, chainId: number, appId: string): Promise<bigint> {
  // The last condition is that of the index; every id is above it.
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from live_operations
    where chain_id = ${chainId} and app_id = ${appId}
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
    from live_operations where chain_id = ${chainId} and entry_point = ${entryPoint}
    and paymaster = ${paymaster}`.execute(trx)
  return rows[0]!.sum
}

/** Forgets the bounds, so that the pool is counted anew after operations became live without an admission. */
export async function forgetBounds(trx: TransactionExecutor, chainId: number): Promise<void> {
  await sql`delete from pool_bounds where chain_id = ${chainId}`.execute(trx)
}

/**
 * Locks the pool of a chain for admissions until the transaction ends: only bundling changes what is
 * read after this. All admissions of the chain wait meanwhile, so it is taken late and for few statements.
 */
export function lockPool(trx: TransactionExecutor, chainId: number): Promise<void> {
  return lockTurn(trx, `pool ${chainId}`)
}

/** Operations that wait or are in open bundles, by chain and state. */
export async function poolSizes(
  db: Database,
): Promise<readonly { chain: string; state: 'pooled' | 'bundled'; operations: number }[]> {
  const rows = await db
    .selectFrom('live_operations')
    .select(({ fn }) => ['chain_id', 'state', fn.countAll<bigint>().as('count')])
    .groupBy(['chain_id', 'state'])
    .execute()
  return rows.map(({ chain_id, state, count }) => ({
    chain: String(chain_id),
    state,
    operations: Number(count),
  }))
}

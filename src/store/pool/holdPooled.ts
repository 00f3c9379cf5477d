import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Transaction } from '../database.js'
import type { PoolSlot } from './admissionFacts.js'
import { nonceKeyUnit } from './successors.js'

/** A pooled operation with what it occupies. */
export type PooledOperation = Omit<PoolSlot, 'state'> & {
  readonly entryPoint: Address
  readonly sender: Address
  readonly nonce: bigint
}

/**
 * Locks those of these operations that are pooled and that no bundle is taking at this moment; they
 * stay pooled until the transaction ends. It never waits for bundling, so the two cannot block each other.
 */
export async function holdPooled(
  trx: Transaction,
  chainId: number,
  hashes: readonly Hex[],
): Promise<Set<Hex>> {
  const rows = await trx
    .selectFrom('operations')
    .select('hash')
    .where('chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`hash = any(${hashes}::text[])`)
    .where(sql<boolean>`state = 'pooled'`)
    .forUpdate()
    .skipLocked()
    .execute()
  return new Set(rows.map(({ hash }) => hash))
}

/**
 * Locks, as `holdPooled` does, the candidates for eviction: the `count` operations with the lowest
 * priority fee and the `count` with the lowest maximum fee, among which are those that pay the bundler
 * least at any base fee; and all operations that wait behind them (same account and nonce key, higher
 * nonce).
 */
export async function holdCheapest(
  trx: Transaction,
  chainId: number,
  count: number,
): Promise<PooledOperation[]> {
  const lowest = (fee: 'max_fee_per_gas' | 'max_priority_fee_per_gas') =>
    sql`(select hash from operations where chain_id = ${chainId} and state = 'pooled'
      order by ${sql.ref(fee)}, hash limit ${count})`
  const cheapest = await holdOperations(
    trx,
    sql`o.chain_id = ${chainId} and o.hash in
      (${lowest('max_fee_per_gas')} union ${lowest('max_priority_fee_per_gas')})`,
  )
  const successors = await holdOperations(
    trx,
    sql`o.chain_id = ${chainId} and exists (select 1 from operations p
      where p.chain_id = ${chainId} and p.hash = any(${cheapest.map(({ hash }) => hash)}::text[])
        and p.entry_point = o.entry_point and p.sender = o.sender and p.nonce < o.nonce
        and div(p.nonce, ${nonceKeyUnit}) = div(o.nonce, ${nonceKeyUnit}))`,
  )
  return [...new Map([...cheapest, ...successors].map((each) => [each.hash, each])).values()]
}

async function holdOperations(
  trx: Transaction,
  condition: ReturnType<typeof sql>,
): Promise<PooledOperation[]> {
  const { rows } = await sql<{
    hash: Hex
    entry_point: Address
    sender: Address
    nonce: bigint
    app_id: string
    paymaster: Address | null
    prefund: bigint
    max_fee_per_gas: bigint
    max_priority_fee_per_gas: bigint
  }>`select hash, entry_point, sender, nonce, app_id, paymaster, prefund, max_fee_per_gas,
      max_priority_fee_per_gas
    from operations o where o.state = 'pooled' and ${condition}
    for update skip locked`.execute(trx)
  return rows.map((row) => ({
    hash: row.hash,
    entryPoint: row.entry_point,
    sender: row.sender,
    nonce: row.nonce,
    appId: row.app_id,
    paymaster: row.paymaster,
    prefund: row.prefund,
    maxFeePerGas: row.max_fee_per_gas,
    maxPriorityFeePerGas: row.max_priority_fee_per_gas,
  }))
}

import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Transaction, TransactionExecutor } from '../../db/database.js'
import { type Scope, scopeNames } from './bounds.js'
import type { OperationState } from './operations.js'
import type { NewOperation } from './putOperations.js'
import { nonceKeyUnit } from './successors.js'

/** The facts of a live operation by which another one may replace it. */
export type PoolSlot = {
  readonly hash: Hex
  readonly state: 'pooled' | 'bundled'
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** wei */
  readonly prefund: bigint
  readonly paymaster: Address | null
  readonly appId: string
}

/** Facts by which the admission of one candidate is decided. Bounds are upper bounds; undefined = not known. */
export type AdmissionFacts = {
  /** State of the operation when it is stored already. */
  readonly known: OperationState | undefined
  readonly slot: PoolSlot | undefined
  readonly ofSender: number
  /** Whether the sender, the app or some operation of the chain made bundles fail or lose wei recently; see `readReverts`. */
  readonly mayBePaused: boolean
  readonly bounds: Readonly<Record<Scope, bigint | undefined>>
}

type FactsRow = {
  known: OperationState | null
  of_sender: bigint
  paused: boolean
  pool: bigint | null
  app: bigint | null
  paymaster: bigint | null
  slot_hash: Hex | null
  slot_state: 'pooled' | 'bundled'
  slot_max_fee: bigint
  slot_tip: bigint
  slot_prefund: bigint
  slot_paymaster: Address | null
  slot_app: string
}

/**
 * The facts of the candidates, in their order, read in one statement. Each candidate is looked up by
 * itself: a join with a new table, without statistics, may read the whole table for each candidate.
 */
export async function readFacts(
  trx: TransactionExecutor,
  chainId: number,
  candidates: readonly Omit<NewOperation, 'counted'>[],
): Promise<AdmissionFacts[]> {
  const list = candidates.map(({ hash, entryPoint, appId, operation }) => ({
    hash,
    entry_point: entryPoint,
    sender: operation.sender,
    nonce: String(operation.nonce),
    app_id: appId,
    app_scope: scopeNames.app(appId),
    paymaster_scope: operation.paymaster && scopeNames.paymaster(entryPoint, operation.paymaster),
  }))
  const bound = (scope: ReturnType<typeof sql>) =>
    sql`(select bound from pool_bounds b where b.chain_id = ${chainId} and b.scope = ${scope})`
  const { rows } = await sql<FactsRow>`
    select known.state as known,
      (select count(*) from live_operations l where l.chain_id = ${chainId}
        and l.entry_point = c.entry_point and l.sender = c.sender) as of_sender,
      exists (select from operations o where o.chain_id = ${chainId}
        and o.sender = c.sender and o.failed_at > now() - interval '1 day')
      or exists (select from operations o where o.chain_id = ${chainId}
        and o.app_id = c.app_id and o.failed_at > now() - interval '1 hour')
      or exists (select from inclusions i where i.chain_id = ${chainId}
        and i.uncovered_at > now() - interval '1 day') as paused,
      ${bound(sql`${scopeNames.pool}`)} as pool,
      ${bound(sql`c.app_scope`)} as app,
      ${bound(sql`c.paymaster_scope`)} as paymaster,
      slot.hash as slot_hash, slot.state as slot_state, slot.max_fee_per_gas as slot_max_fee,
      slot.max_priority_fee_per_gas as slot_tip, slot.prefund as slot_prefund,
      slot.paymaster as slot_paymaster, slot.app_id as slot_app
    from rows from (jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as (hash text,
      entry_point text, sender text, nonce numeric, app_id uuid, app_scope text,
      paymaster_scope text))
      with ordinality as c(hash, entry_point, sender, nonce, app_id, app_scope, paymaster_scope, place)
    left join lateral (select * from operations o where o.chain_id = ${chainId}
      and o.hash = c.hash limit 1) known on true
    left join lateral (select * from live_operations l where l.chain_id = ${chainId}
      and l.entry_point = c.entry_point and l.sender = c.sender and l.nonce = c.nonce
      limit 1) slot on true
    order by c.place`.execute(trx)
  return rows.map((row) => ({
    known: row.known ?? undefined,
    ofSender: Number(row.of_sender),
    mayBePaused: row.paused,
    bounds: {
      pool: row.pool ?? undefined,
      app: row.app ?? undefined,
      paymaster: row.paymaster ?? undefined,
    },
    slot:
      row.slot_hash === null
        ? undefined
        : {
            hash: row.slot_hash,
            state: row.slot_state,
            maxFeePerGas: row.slot_max_fee,
            maxPriorityFeePerGas: row.slot_tip,
            prefund: row.slot_prefund,
            paymaster: row.slot_paymaster,
            appId: row.slot_app,
          },
  }))
}

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
 * Locks, as `holdPooled` does, the candidates for eviction: at each EntryPoint the `count` operations with the
 * lowest priority fee and the `count` with the lowest assured price, among which are those that bundles take
 * last at any base fee, the newest of equals; and all operations that wait behind them (same account and
 * nonce key, higher nonce).
 */
export async function holdCheapest(
  trx: Transaction,
  chainId: number,
  count: number,
): Promise<PooledOperation[]> {
  const ofEntryPoint = (condition: ReturnType<typeof sql>) =>
    sql`from live_operations where chain_id = ${chainId} and entry_point ${condition}`
  // The indexes by which bundles choose, read from their ends; `>= 0` is their condition.
  const lowest = (price: 'assured_price' | 'max_priority_fee_per_gas') =>
    sql`select last.hash from entry_points e cross join lateral (
      select hash ${ofEntryPoint(sql`= e.entry_point`)} and state = 'pooled' and assured_price >= 0
      order by ${sql.ref(price)}, received_at desc limit ${count}) last`
  const cheapest = await holdOperations(
    trx,
    chainId,
    sql`with recursive entry_points as (
        (select entry_point ${ofEntryPoint(sql`> ''`)} order by entry_point limit 1)
        union all
        select next.entry_point from entry_points e cross join lateral (
          select entry_point ${ofEntryPoint(sql`> e.entry_point`)} order by entry_point limit 1) next
      ) ${lowest('assured_price')} union ${lowest('max_priority_fee_per_gas')}`,
  )
  // Each by the index of slots: `offset` keeps the server from joining all operations of the pool.
  const successors = await holdOperations(
    trx,
    chainId,
    sql`select s.hash from unnest(${cheapest.map(({ entryPoint }) => entryPoint)}::text[],
        ${cheapest.map(({ sender }) => sender)}::text[],
        ${cheapest.map(({ nonce }) => nonce)}::numeric[]) as p (entry_point, sender, nonce)
      cross join lateral (
        select hash ${ofEntryPoint(sql`= p.entry_point`)} and sender = p.sender and nonce > p.nonce
          and div(nonce, ${nonceKeyUnit}) = div(p.nonce, ${nonceKeyUnit}) offset 0) s`,
  )
  return [...new Map([...cheapest, ...successors].map((each) => [each.hash, each])).values()]
}

/** Locks those of the operations with these hashes, a query, that are pooled. */
async function holdOperations(
  trx: Transaction,
  chainId: number,
  hashes: ReturnType<typeof sql>,
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
    from operations where chain_id = ${chainId} and hash = any(array(${hashes})) and state = 'pooled'
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

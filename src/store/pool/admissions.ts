import { type Kysely, type QueryExecutorProvider, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { DropCode } from '../dropCode.js'
import { toJson } from '../json.js'
import type { OperationState, Schema } from '../schema.js'
import { type NewOperation, offerOf } from './operations.js'
import { nonceKeyUnit } from './successors.js'

/** A live operation as far as another one may take its place. */
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

/** A pooled operation with what it occupies. */
export type PooledOperation = Omit<PoolSlot, 'state'> & {
  readonly entryPoint: Address
  readonly sender: Address
  readonly nonce: bigint
}

/** What is known about one candidate; the bounds are never too small, undefined = not known. */
export type AdmissionFacts = {
  readonly known: OperationState | undefined
  readonly slot: PoolSlot | undefined
  readonly ofSender: number
  readonly bounds: Readonly<Record<Scope, bigint | undefined>>
}

/** What limits apply to: the pool, an app, a paymaster of an EntryPoint (in wei). */
export type Scope = 'pool' | 'app' | 'paymaster'

/** The names under which bounds are stored. */
export const scopeNames = {
  pool: 'pool',
  app: (appId: string) => `app ${appId}`,
  paymaster: (entryPoint: Address, paymaster: Address) => `paymaster ${entryPoint} ${paymaster}`,
}

/** How long an admission waits for its turn, and may stand still once it has it. */
const patience = { turn: '2s', idle: '3s' }

/**
 * Until the transaction ends no other process admits to this chain's pool: what is read after this
 * changes only by what bundling takes out. A process that stands still inside is cut off by the
 * database, so the others do not wait for it for long.
 */
export async function lockPool(trx: QueryExecutorProvider, chainId: number): Promise<void> {
  await sql`select set_config('lock_timeout', ${patience.turn}, true),
    set_config('idle_in_transaction_session_timeout', ${patience.idle}, true),
    pg_advisory_xact_lock(hashtextextended(${`pool ${chainId}`}, 0))`.execute(trx)
}

type FactsRow = {
  known: OperationState | null
  of_sender: bigint
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
 * All that decides about the candidates, in their order, in one statement. Each is looked up by itself:
 * the server may join a new table, of which it knows nothing, by reading all of it for each.
 */
export async function readFacts(
  trx: QueryExecutorProvider,
  chainId: number,
  candidates: readonly Omit<NewOperation, 'counted'>[],
): Promise<AdmissionFacts[]> {
  const list = candidates.map(({ hash, entryPoint, appId, operation }) => ({
    hash,
    entry_point: entryPoint,
    sender: operation.sender,
    nonce: String(operation.nonce),
    app_scope: scopeNames.app(appId),
    paymaster_scope: operation.paymaster && scopeNames.paymaster(entryPoint, operation.paymaster),
  }))
  const bound = (scope: ReturnType<typeof sql>) =>
    sql`(select bound from pool_bounds b where b.chain_id = ${chainId} and b.scope = ${scope})`
  const { rows } = await sql<FactsRow>`
    select known.state as known,
      (select count(*) from operations o where o.chain_id = ${chainId}
        and o.entry_point = c.entry_point and o.sender = c.sender
        and o.state in ('pooled', 'bundled')) as of_sender,
      ${bound(sql`${scopeNames.pool}`)} as pool,
      ${bound(sql`c.app_scope`)} as app,
      ${bound(sql`c.paymaster_scope`)} as paymaster,
      slot.hash as slot_hash, slot.state as slot_state, slot.max_fee_per_gas as slot_max_fee,
      slot.max_priority_fee_per_gas as slot_tip, slot.prefund as slot_prefund,
      slot.paymaster as slot_paymaster, slot.app_id as slot_app
    from rows from (jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as (hash text,
      entry_point text, sender text, nonce numeric, app_scope text, paymaster_scope text))
      with ordinality as c(hash, entry_point, sender, nonce, app_scope, paymaster_scope, place)
    left join lateral (select * from operations o where o.chain_id = ${chainId}
      and o.hash = c.hash limit 1) known on true
    left join lateral (select * from operations o where o.chain_id = ${chainId}
      and o.entry_point = c.entry_point and o.sender = c.sender and o.nonce = c.nonce
      and o.state in ('pooled', 'bundled') limit 1) slot on true
    order by c.place`.execute(trx)
  return rows.map((row) => ({
    known: row.known ?? undefined,
    ofSender: Number(row.of_sender),
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

/** Live operations of the chain. */
export async function countPool(trx: Kysely<Schema>, chainId: number): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from operations
    where chain_id = ${chainId} and state in ('pooled', 'bundled')`.execute(trx)
  return rows[0]!.count
}

/** Live operations of an app. */
export async function countApp(
  trx: Kysely<Schema>,
  chainId: number,
  appId: string,
): Promise<bigint> {
  // The last condition is that of the index; every id is above it.
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from operations
    where chain_id = ${chainId} and app_id = ${appId} and state in ('pooled', 'bundled')
      and app_id > '00000000-0000-0000-0000-000000000000'`.execute(trx)
  return rows[0]!.count
}

/** wei that a paymaster's live operations may take from its deposit. */
export async function sumPaymaster(
  trx: Kysely<Schema>,
  chainId: number,
  entryPoint: Address,
  paymaster: Address,
): Promise<bigint> {
  const { rows } = await sql<{ sum: bigint }>`select coalesce(sum(prefund), 0) as sum
    from operations where chain_id = ${chainId} and entry_point = ${entryPoint}
    and paymaster = ${paymaster} and state in ('pooled', 'bundled')`.execute(trx)
  return rows[0]!.sum
}

/**
 * Of these operations, those that are pooled and that no bundle is taking at this moment; they stay
 * so until the transaction ends. It never waits for bundling, so the two cannot block each other.
 */
export async function holdPooled(
  trx: Kysely<Schema>,
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
 * The pooled operations that leave the bundler least at any base fee are among the `count` with the
 * lowest priority fee and the `count` with the lowest maximum; both are returned with all that wait
 * behind them (same account and nonce key, higher nonce), held as by `holdPooled`.
 */
export async function holdCheapest(
  trx: Kysely<Schema>,
  chainId: number,
  count: number,
): Promise<PooledOperation[]> {
  const lowest = (fee: 'max_fee_per_gas' | 'max_priority_fee_per_gas') =>
    sql`(select hash from operations where chain_id = ${chainId} and state = 'pooled'
      order by ${sql.ref(fee)}, hash limit ${count})`
  const cheapest = await hold(
    trx,
    sql`o.chain_id = ${chainId} and o.hash in
      (${lowest('max_fee_per_gas')} union ${lowest('max_priority_fee_per_gas')})`,
  )
  const successors = await hold(
    trx,
    sql`o.chain_id = ${chainId} and exists (select 1 from operations p
      where p.chain_id = ${chainId} and p.hash = any(${cheapest.map(({ hash }) => hash)}::text[])
        and p.entry_point = o.entry_point and p.sender = o.sender and p.nonce < o.nonce
        and div(p.nonce, ${nonceKeyUnit}) = div(o.nonce, ${nonceKeyUnit}))`,
  )
  return [...new Map([...cheapest, ...successors].map((each) => [each.hash, each])).values()]
}

async function hold(
  trx: Kysely<Schema>,
  which: ReturnType<typeof sql>,
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
    from operations o where o.state = 'pooled' and ${which}
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

/** How an operation stands when a transaction of admissions ends. */
export type DisplacedState = {
  readonly state: 'pooled' | 'replaced' | 'dropped'
  readonly code?: DropCode
  readonly reason?: string
}

/** Operations that were pooled before give way. */
export async function displaceOperations(
  trx: QueryExecutorProvider,
  chainId: number,
  displaced: ReadonlyMap<Hex, DisplacedState>,
): Promise<void> {
  if (displaced.size === 0) return
  const list = [...displaced].map(([hash, standing]) => ({ hash, ...standing }))
  await sql`update operations o set state = d.state, reason_code = d.code, reason = d.reason,
      updated_at = now()
    from jsonb_to_recordset(${JSON.stringify(list)}::jsonb)
      as d(hash text, state text, code text, reason text)
    where o.chain_id = ${chainId} and o.hash = d.hash and o.state = 'pooled'`.execute(trx)
}

/**
 * Stores new operations with their standing, and the bounds of what is live now, in one statement.
 * An operation that was dropped or replaced before comes back, but keeps the count of bundles that
 * failed with it.
 */
export async function putOperations(
  trx: QueryExecutorProvider,
  chainId: number,
  entries: readonly { readonly entry: NewOperation; readonly standing: DisplacedState }[],
  bounds: ReadonlyMap<string, bigint>,
): Promise<void> {
  if (entries.length === 0) return
  const list = entries.map(({ entry, standing }) => ({
    hash: entry.hash,
    entry_point: entry.entryPoint,
    app_id: entry.appId,
    sender: entry.operation.sender,
    nonce: String(entry.operation.nonce),
    paymaster: entry.operation.paymaster,
    max_fee: String(offerOf(entry).maxFeePerGas),
    tip: String(offerOf(entry).maxPriorityFeePerGas),
    prefund: String(entry.prefund),
    valid_until: entry.validUntil,
    operation: JSON.parse(toJson(entry.operation)),
    factory: entry.factory,
    counted: entry.counted,
    seen_block: String(entry.seenBlock),
    first_validation: entry.firstValidation && JSON.parse(toJson(entry.firstValidation)),
    ...standing,
  }))
  const limits = [...bounds].map(([scope, bound]) => ({ scope, bound: String(bound) }))
  await sql`with bounds as (
      insert into pool_bounds (chain_id, scope, bound)
      select ${chainId}, scope, bound
      from jsonb_to_recordset(${JSON.stringify(limits)}::jsonb) as b(scope text, bound numeric)
      on conflict (chain_id, scope) do update set bound = excluded.bound
    )
    insert into operations (chain_id, hash, entry_point, app_id, sender, nonce, paymaster,
      max_fee_per_gas, max_priority_fee_per_gas, prefund, valid_until, operation, state,
      reason_code, reason, factory, counted, seen_block, first_validation)
    select ${chainId}, hash, entry_point, app_id, sender, nonce, paymaster, max_fee, tip, prefund,
      valid_until, operation, state, code, reason, factory, counted, seen_block, first_validation
    from jsonb_to_recordset(${JSON.stringify(list)}::jsonb) as r(hash text, entry_point text,
      app_id uuid, sender text, nonce numeric, paymaster text, max_fee numeric, tip numeric,
      prefund numeric, valid_until bigint, operation jsonb, state text, code text, reason text,
      factory text, counted text[], seen_block bigint, first_validation jsonb)
    on conflict (chain_id, hash) do update set app_id = excluded.app_id,
      operation = excluded.operation, max_fee_per_gas = excluded.max_fee_per_gas,
      max_priority_fee_per_gas = excluded.max_priority_fee_per_gas,
      valid_until = excluded.valid_until, state = excluded.state,
      reason_code = excluded.reason_code, reason = excluded.reason, bundle_id = null,
      factory = excluded.factory, counted = excluded.counted, seen_block = excluded.seen_block,
      first_validation = excluded.first_validation, cancel_requested_at = null,
      received_at = now(), updated_at = now()
      where operations.state in ('dropped', 'replaced')`.execute(trx)
}

/** After operations became live by another way than admission, the pool must be counted anew. */
export async function forgetBounds(trx: Kysely<Schema>, chainId: number): Promise<void> {
  await sql`delete from pool_bounds where chain_id = ${chainId}`.execute(trx)
}

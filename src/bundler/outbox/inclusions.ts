import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, Transaction, TransactionExecutor } from '../../db/database.js'
import { emitOperationEvents } from '../../db/events.js'
import { fromJson, toJson } from '../../db/json.js'
import type { Included, OperationOutcome } from '../../erc4337/entryPoint.js'

export type StoredInclusion = {
  readonly outcome: Omit<OperationOutcome, 'event' | 'logs'>
  /** Indexes of the operation's first and last log. */
  readonly logs: readonly [first: number, last: number]
  readonly entryPoint: Address
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly transactionHash: Hex
}

/** The part of a receipt by which it is stored. */
type ReceiptPlace = {
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
}

/** Keeps receipts; a newer one of the same transaction (mined again after a reorg) replaces it. */
export async function putReceipts(
  trx: TransactionExecutor,
  chainId: number,
  receipts: readonly ReceiptPlace[],
): Promise<void> {
  if (receipts.length === 0) return
  const rows = receipts.map((receipt) => {
    const { transactionHash: hash, blockNumber, blockHash: block_hash } = receipt
    return { hash, block_number: String(blockNumber), block_hash, receipt }
  })
  await sql`insert into transaction_receipts (chain_id, hash, block_number, block_hash, receipt)
    select ${chainId}, * from jsonb_to_recordset(${toJson(rows)}::jsonb) as r(hash text,
      block_number bigint, block_hash text, receipt jsonb)
    on conflict (chain_id, hash) do update set block_number = excluded.block_number,
      block_hash = excluded.block_hash, receipt = excluded.receipt`.execute(trx)
}

/** An inclusion in a bundle of ours, or of somebody else: that has no `bundleId`. `time` is that of its block, in Unix seconds. */
type PlacedInclusion = Included & { readonly bundleId: bigint | undefined; readonly time: number }

/**
 * Marks operations as included, whatever their state was, and keeps their outcomes. Returns the hashes that were not known
 * as included before and that reputations count. Its first statements begin at once, see `pipelined`.
 */
export async function putInclusions(
  trx: TransactionExecutor,
  chainId: number,
  included: readonly PlacedInclusion[],
): Promise<Hex[]> {
  if (included.length === 0) return []
  const inserting = sql<{ user_op_hash: Hex; inserted: boolean }>`
    insert into inclusions (chain_id, user_op_hash, entry_point, sender, nonce, paymaster, success,
      actual_gas_cost, actual_gas_used, reason, transaction_hash, block_number, block_hash,
      first_log, log_index, block_time)
    select ${chainId}, user_op_hash, entry_point, sender, nonce, paymaster, success,
      actual_gas_cost, actual_gas_used, reason, transaction_hash, block_number, block_hash,
      first_log, log_index, to_timestamp(block_time)
    from jsonb_to_recordset(${toJson(included.map(toRow))}::jsonb) as r(user_op_hash text,
      entry_point text, sender text, nonce numeric, paymaster text, success boolean,
      actual_gas_cost numeric, actual_gas_used numeric, reason text, transaction_hash text,
      block_number bigint, block_hash text, first_log integer, log_index integer, block_time float8)
    on conflict (chain_id, user_op_hash) do update set success = excluded.success,
      actual_gas_cost = excluded.actual_gas_cost, actual_gas_used = excluded.actual_gas_used,
      reason = excluded.reason, transaction_hash = excluded.transaction_hash,
      block_number = excluded.block_number, block_hash = excluded.block_hash,
      first_log = excluded.first_log, log_index = excluded.log_index,
      block_time = excluded.block_time
    returning user_op_hash, xmax = 0 as inserted`.execute(trx)
  const hashes = included.map(({ outcome }) => outcome.userOpHash)
  const bundleIds = included.map(({ bundleId }) => bundleId ?? null)
  const changing = sql<{ hash: Hex; ends: boolean; counts: boolean }>`with before as (
      select hash, state, counted from operations
      where chain_id = ${chainId} and hash = any(${hashes}::text[]) order by hash for no key update
    ), changed as (
      update operations o set state = 'included', reason_code = null, reason = null,
        bundle_id = i.bundle_id, updated_at = now()
      from before join unnest(${hashes}::text[], ${bundleIds}::bigint[]) as i (hash, bundle_id)
        on i.hash = before.hash
      where o.chain_id = ${chainId} and o.hash = before.hash
    )
    select hash, state <> 'included' as ends, counted <> '{}' as counts from before`.execute(trx)
  const [{ rows }, before] = await Promise.all([inserting, changing])
  // An inclusion found twice, by the index and by a request for its receipt, is announced once.
  await emitOperationEvents(
    trx,
    chainId,
    before.rows.filter(({ ends }) => ends).map(({ hash }) => hash),
  )
  const inserted = new Set(rows.flatMap((row) => (row.inserted ? [row.user_op_hash] : [])))
  return before.rows
    .filter(({ hash, counts }) => counts && inserted.has(hash))
    .map(({ hash }) => hash)
}

/** Marks included operations because of which a bundle of ours cost more than it was paid. A reorg forgets it. */
export async function markUncovered(
  trx: Transaction,
  chainId: number,
  hashes: readonly Hex[],
): Promise<void> {
  await sql`update inclusions set uncovered_at = now()
    where chain_id = ${chainId} and user_op_hash = any(${hashes}::text[])`.execute(trx)
}

/** A row as JSON. */
function toRow({ entryPoint, outcome, time }: PlacedInclusion) {
  return {
    user_op_hash: outcome.userOpHash,
    entry_point: entryPoint,
    sender: outcome.sender,
    nonce: String(outcome.nonce),
    paymaster: outcome.paymaster,
    success: outcome.success,
    actual_gas_cost: String(outcome.actualGasCost),
    actual_gas_used: String(outcome.actualGasUsed),
    reason: outcome.reason,
    transaction_hash: outcome.event.transactionHash,
    block_number: String(outcome.event.blockNumber),
    block_hash: outcome.event.blockHash,
    first_log: outcome.logs[0]?.logIndex,
    log_index: outcome.event.logIndex,
    block_time: time,
  }
}

/** A transaction's receipt as `putReceipt` got it. */
export async function findReceipt<Receipt>(
  db: Database,
  chainId: number,
  transactionHash: Hex,
): Promise<Receipt | undefined> {
  const row = await db
    .selectFrom('transaction_receipts')
    .select('receipt')
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', '=', transactionHash)
    .executeTakeFirst()
  return row && (fromJson(row.receipt) as Receipt)
}

/** The inclusion of an operation; undefined = it is not included. */
export async function findInclusion(
  db: Database,
  chainId: number,
  hash: Hex,
): Promise<StoredInclusion | undefined> {
  const row = await db
    .selectFrom('inclusions')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .where('user_op_hash', '=', hash)
    .executeTakeFirst()
  if (!row) return undefined
  return {
    logs: [row.first_log, row.log_index],
    outcome: {
      userOpHash: row.user_op_hash,
      sender: row.sender,
      nonce: row.nonce,
      paymaster: row.paymaster,
      success: row.success,
      actualGasCost: row.actual_gas_cost,
      actualGasUsed: row.actual_gas_used,
      reason: row.reason,
    },
    entryPoint: row.entry_point,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    transactionHash: row.transaction_hash,
  }
}

/** The part of a UserOperationEvent that shows whether it is one of ours. */
export type SeenInclusion = {
  readonly entryPoint: Address
  readonly userOpHash: Hex
  /** The zero address when the sender paid. */
  readonly paymaster: Address
}

/**
 * The hashes of inclusions that our books must know: of operations that we stored, in any state, or
 * sponsored, and of all that a tank of ours paid. An account can give a sponsorship another form that
 * the tank accepts too: the hash is then unknown, but the tank's money is spent.
 */
export async function hashesToSettle(
  db: Database,
  chainId: number,
  seen: readonly SeenInclusion[],
): Promise<Set<Hex>> {
  if (seen.length === 0) return new Set()
  const hashes = seen.map(({ userOpHash }) => userOpHash)
  const { rows } = await sql<{ hash: Hex }>`
    select hash from operations where chain_id = ${chainId} and hash = any(${hashes}::text[])
    union
    select user_op_hash from decisions
    where chain_id = ${chainId} and user_op_hash = any(${hashes}::text[])
    union
    select e.hash from unnest(
        ${hashes}::text[],
        ${seen.map(({ entryPoint }) => entryPoint)}::text[],
        ${seen.map(({ paymaster }) => paymaster)}::text[]
      ) as e (hash, entry_point, paymaster)
      where exists (select from tanks t where t.chain_id = ${chainId}
        and t.entry_point = e.entry_point and t.address = e.paymaster)`.execute(db)
  return new Set(rows.map((row) => row.hash))
}

/**
 * Is any operation pooled, in an open bundle, or dropped within the last ten minutes? Somebody may still
 * include a dropped one, or have included it in a block that its drop did not know.
 */
export function mayBeIncluded(chainId: number) {
  return sql<boolean>`(exists (select from live_operations where chain_id = ${chainId})
    or exists (select from operations
      where chain_id = ${chainId} and state = 'dropped'
        and ended_badly_at > now() - interval '10 minutes'))`
}

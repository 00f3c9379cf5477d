import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Log, OperationOutcome } from '../../entrypoint/entryPoint.js'
import type { Database, Transaction } from '../database.js'
import { emitOperationEvents } from '../events.js'
import { fromJson, toJson } from '../json.js'

export type StoredInclusion = {
  readonly outcome: OperationOutcome
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

/** Keeps a receipt; a newer one of the same transaction (mined again after a reorg) replaces it. */
export async function putReceipt(
  trx: Transaction,
  chainId: number,
  receipt: ReceiptPlace,
): Promise<void> {
  await trx
    .insertInto('transaction_receipts')
    .values({
      chain_id: BigInt(chainId),
      hash: receipt.transactionHash,
      block_number: receipt.blockNumber,
      block_hash: receipt.blockHash,
      receipt: toJson(receipt),
    })
    .onConflict((conflict) =>
      conflict.columns(['chain_id', 'hash']).doUpdateSet((eb) => ({
        block_number: eb.ref('excluded.block_number'),
        block_hash: eb.ref('excluded.block_hash'),
        receipt: eb.ref('excluded.receipt'),
      })),
    )
    .execute()
}

/**
 * Marks operations of one transaction as included, whatever their state was, and keeps their
 * outcomes. `bundleId` is the bundle of ours that carried them, null when it was somebody else's.
 * `time` is that of its block, in Unix seconds. Returns the hashes that were not known as included before.
 */
export async function putInclusions(
  trx: Transaction,
  chainId: number,
  included: readonly Included[],
  bundleId: bigint | null,
  time: number,
): Promise<Hex[]> {
  if (included.length === 0) return []
  const { rows } = await sql<{ user_op_hash: Hex; inserted: boolean }>`
    insert into inclusions (chain_id, user_op_hash, entry_point, sender, nonce, paymaster, success,
      actual_gas_cost, actual_gas_used, reason, transaction_hash, block_number, block_hash,
      log_index, logs, block_time)
    select ${chainId}, user_op_hash, entry_point, sender, nonce, paymaster, success,
      actual_gas_cost, actual_gas_used, reason, transaction_hash, block_number, block_hash,
      log_index, logs, to_timestamp(${time})
    from jsonb_to_recordset(${toJson(included.map(toRow))}::jsonb) as r(user_op_hash text,
      entry_point text, sender text, nonce numeric, paymaster text, success boolean,
      actual_gas_cost numeric, actual_gas_used numeric, reason text, transaction_hash text,
      block_number bigint, block_hash text, log_index integer, logs jsonb)
    on conflict (chain_id, user_op_hash) do update set success = excluded.success,
      actual_gas_cost = excluded.actual_gas_cost, actual_gas_used = excluded.actual_gas_used,
      reason = excluded.reason, transaction_hash = excluded.transaction_hash,
      block_number = excluded.block_number, block_hash = excluded.block_hash,
      log_index = excluded.log_index, logs = excluded.logs, block_time = excluded.block_time
    returning user_op_hash, xmax = 0 as inserted`.execute(trx)
  const hashes = included.map(({ outcome }) => outcome.userOpHash)
  const ended = await sql<{ hash: Hex }>`with before as (
      select hash, state from operations
      where chain_id = ${chainId} and hash = any(${hashes}::text[]) order by hash for no key update
    ), changed as (
      update operations o set state = 'included', reason_code = null, reason = null,
        bundle_id = ${bundleId}, updated_at = now()
      from before where o.chain_id = ${chainId} and o.hash = before.hash
    )
    select hash from before where state <> 'included'`.execute(trx)
  // What is found twice, by the index and by a question for its receipt, is told once.
  await emitOperationEvents(
    trx,
    chainId,
    ended.rows.map(({ hash }) => hash),
  )
  return rows.filter(({ inserted }) => inserted).map((row) => row.user_op_hash)
}

/** The outcome that a UserOperationEvent reports, and the EntryPoint that emitted it. */
export type Included = { readonly entryPoint: Address; readonly outcome: OperationOutcome }

/** A row as JSON; `logs` keep their bigints, which `toJson` writes. */
function toRow({ entryPoint, outcome }: Included) {
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
    log_index: outcome.event.logIndex,
    logs: outcome.logs,
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
  const logs = fromJson(row.logs) as readonly Log[]
  const event = logs.at(-1)
  if (!event) throw new Error(`inclusion of ${hash} has no event`)
  return {
    outcome: {
      event,
      userOpHash: row.user_op_hash,
      sender: row.sender,
      nonce: row.nonce,
      paymaster: row.paymaster,
      success: row.success,
      actualGasCost: row.actual_gas_cost,
      actualGasUsed: row.actual_gas_used,
      reason: row.reason,
      logs,
    },
    entryPoint: row.entry_point,
    blockNumber: row.block_number,
    blockHash: row.block_hash,
    transactionHash: row.transaction_hash,
  }
}

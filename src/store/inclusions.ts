import { type Kysely, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Log, OperationOutcome } from '../entrypoint/entryPoint.js'
import { fromJson, toJson } from './json.js'
import type { Schema } from './schema.js'

export type StoredInclusion<Receipt> = {
  readonly outcome: OperationOutcome
  readonly entryPoint: Address
  readonly blockNumber: bigint
  readonly blockHash: Hex
  readonly transactionHash: Hex
  readonly receipt: Receipt
}

/** The part of a receipt that the store needs to file it. */
type Filed = {
  readonly transactionHash: Hex
  readonly blockNumber: bigint
  readonly blockHash: Hex
}

/** Keeps a receipt; a newer one of the same transaction (mined again after a reorg) replaces it. */
export const putReceipt = async (
  trx: Kysely<Schema>,
  chainId: number,
  receipt: Filed,
): Promise<void> => {
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
 */
export const putInclusions = async (
  trx: Kysely<Schema>,
  chainId: number,
  included: readonly Included[],
  bundleId: bigint | null,
): Promise<void> => {
  if (included.length === 0) return
  await trx
    .insertInto('inclusions')
    .values(included.map((each) => toRow(chainId, each)))
    .onConflict((conflict) =>
      conflict.columns(['chain_id', 'user_op_hash']).doUpdateSet((eb) => ({
        success: eb.ref('excluded.success'),
        actual_gas_cost: eb.ref('excluded.actual_gas_cost'),
        actual_gas_used: eb.ref('excluded.actual_gas_used'),
        reason: eb.ref('excluded.reason'),
        transaction_hash: eb.ref('excluded.transaction_hash'),
        block_number: eb.ref('excluded.block_number'),
        block_hash: eb.ref('excluded.block_hash'),
        log_index: eb.ref('excluded.log_index'),
        logs: eb.ref('excluded.logs'),
      })),
    )
    .execute()
  await trx
    .updateTable('operations')
    .set({
      state: 'included',
      reason_code: null,
      reason: null,
      bundle_id: bundleId,
      updated_at: sql<Date>`now()`,
    })
    .where('chain_id', '=', BigInt(chainId))
    .where(
      'hash',
      'in',
      included.map(({ outcome }) => outcome.userOpHash),
    )
    .execute()
}

/** What one UserOperationEvent said, and which EntryPoint emitted it. */
export type Included = { readonly entryPoint: Address; readonly outcome: OperationOutcome }

const toRow = (chainId: number, { entryPoint, outcome }: Included) => ({
  chain_id: BigInt(chainId),
  user_op_hash: outcome.userOpHash,
  entry_point: entryPoint,
  sender: outcome.sender,
  nonce: outcome.nonce,
  paymaster: outcome.paymaster,
  success: outcome.success,
  actual_gas_cost: outcome.actualGasCost,
  actual_gas_used: outcome.actualGasUsed,
  reason: outcome.reason,
  transaction_hash: outcome.event.transactionHash,
  block_number: outcome.event.blockNumber,
  block_hash: outcome.event.blockHash,
  log_index: outcome.event.logIndex,
  logs: toJson(outcome.logs),
})

/** An operation's outcome with its transaction's receipt as `putReceipt` got it. */
export const findInclusion = async <Receipt>(
  db: Kysely<Schema>,
  chainId: number,
  hash: Hex,
): Promise<StoredInclusion<Receipt> | undefined> => {
  const row = await db
    .selectFrom('inclusions as i')
    .innerJoin('transaction_receipts as r', (join) =>
      join.onRef('r.chain_id', '=', 'i.chain_id').onRef('r.hash', '=', 'i.transaction_hash'),
    )
    .selectAll('i')
    .select('r.receipt')
    .where('i.chain_id', '=', BigInt(chainId))
    .where('i.user_op_hash', '=', hash)
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
    receipt: fromJson(row.receipt) as Receipt,
  }
}

/**
 * Undoes all that was read from blocks above `fork`. Our bundles mined there are open again and
 * hold their operations; operations that others had carried return to the pool. An operation whose
 * sender and nonce another one has taken meanwhile gives way to it.
 */
export const rollBack = async (
  trx: Kysely<Schema>,
  chainId: number,
  fork: bigint,
): Promise<Hex[]> => {
  const { rows } = await sql<{ hash: Hex }>`
    update operations o set
      state = case
        when exists (select 1 from operations live where live.chain_id = o.chain_id
          and live.entry_point = o.entry_point and live.sender = o.sender
          and live.nonce = o.nonce and live.state in ('pooled', 'bundled')) then 'replaced'
        when o.bundle_id is null then 'pooled' else 'bundled' end,
      updated_at = now()
    from inclusions i
    where i.chain_id = ${chainId} and i.block_number > ${fork}
      and o.chain_id = i.chain_id and o.hash = i.user_op_hash and o.state = 'included'
    returning o.hash`.execute(trx)
  await sql`
    update bundles b set state = 'signed', transaction_hash = null, updated_at = now()
    from transaction_receipts r
    where r.chain_id = ${chainId} and r.block_number > ${fork} and b.chain_id = r.chain_id
      and b.transaction_hash = r.hash and b.state in ('included', 'reverted')`.execute(trx)
  await forgetAbove(trx, chainId, fork)
  return rows.map((row) => row.hash)
}

/**
 * The chain began anew (a development chain was reset). Nothing of the old one is sent again: open
 * bundles are abandoned, what they held may be tried on the new chain, what was included is gone.
 */
export const forgetChain = async (trx: Kysely<Schema>, chainId: number): Promise<void> => {
  await sql`update bundles set state = 'abandoned', updated_at = now()
    where chain_id = ${chainId} and state = 'signed'`.execute(trx)
  await sql`update operations set state = 'pooled', bundle_id = null, updated_at = now()
    where chain_id = ${chainId} and state = 'bundled'`.execute(trx)
  await sql`update operations set state = 'dropped', reason_code = 'CHAIN_RESET', bundle_id = null,
    reason = 'the chain was reset after this operation was included', updated_at = now()
    where chain_id = ${chainId} and state = 'included'`.execute(trx)
  await forgetAbove(trx, chainId, -1n)
}

const forgetAbove = async (trx: Kysely<Schema>, chainId: number, fork: bigint): Promise<void> => {
  await sql`delete from inclusions where chain_id = ${chainId} and block_number > ${fork}`.execute(
    trx,
  )
  await sql`delete from transaction_receipts
    where chain_id = ${chainId} and block_number > ${fork}`.execute(trx)
  await sql`delete from chain_blocks
    where chain_id = ${chainId} and number > ${fork}`.execute(trx)
}

import { type Expression, type Selectable, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { timeText } from '../../base/unixNow.js'
import type { Database, Transaction } from '../../db/database.js'
import type { DropCode } from '../../db/dropCode.js'
import { emitOperationEvents } from '../../db/events.js'
import { inTransaction } from '../../db/inTransaction.js'
import { fromJson } from '../../db/json.js'
import type { Schema } from '../../db/schema.generated.js'
import { storedOperation } from '../../db/storedOperation.js'
import type { Fees } from '../../erc4337/fees.js'
import type { StateBefore } from '../../erc4337/forkGas.js'
import type { Operation } from '../../erc4337/operation.js'
import { dropSuccessors } from './successors.js'

export type OperationState = Schema['operations']['state']

/** An operation with its state. Times are the database's. */
export type StoredOperation = {
  readonly hash: Hex
  readonly entryPoint: Address
  readonly appId: string
  readonly operation: Operation
  /** Fees per gas that are paid for it: its own, or those of its `Grant`. */
  readonly bid: Fees
  readonly state: OperationState
  readonly reasonCode: DropCode | null
  readonly reason: string | null
  readonly attempts: number
  readonly bundleId: bigint | null
  readonly receivedAt: Date
  /** Unix seconds; 0 = no end. */
  readonly validUntil: number
  /** Its last block; 0 = no end. */
  readonly validUntilBlock: bigint
  /** Undefined where the sender existed. */
  readonly factory: Address | undefined
  /** Block of the head when it was taken into the pool. */
  readonly seenBlock: bigint
  /** EntryPoint.mostCharged, in gas; undefined where it does not matter or was never computed. */
  readonly mostCharged: bigint | undefined
  /** The number of operations that its preVerificationGas shares a bundle with, itself included. */
  readonly sharedBy: number
  /** Undefined where it was taken in without validation. */
  readonly firstValidation: FirstValidation | undefined
}

/** Facts of an operation's first validation, with which the second one and its charge are compared. */
export type FirstValidation = {
  /** Code hash of every address whose code it used (COD-010), as far as the rules were checked. */
  readonly codeHashes: Readonly<Record<Address, Hex>>
  /** Bytes of the paymaster's context (EREP-055), whose copies nobody meters. */
  readonly contextSize: number
  /** gas of validation without preVerificationGas */
  readonly verificationGasUsed: bigint
  /** Absent where nobody looked. */
  readonly before?: StateBefore | undefined
}

/** An operation that leaves the pool, with the reason. */
export type Drop = {
  readonly hash: Hex
  readonly code: DropCode
  readonly reason: string
  /** Its nonce is used up on the chain, so later operations do not wait for it. */
  readonly nonceUsed?: boolean
}

export async function findOperation(
  db: Database,
  chainId: number,
  hash: Hex,
): Promise<StoredOperation | undefined> {
  const row = await db
    .selectFrom('operations')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row && toStored(row)
}

/** Whether the operation waits in the pool or in a bundle: what clients that ask for a receipt ask most. */
export async function isPending(db: Database, chainId: number, hash: Hex): Promise<boolean> {
  const row = await db
    .selectFrom('operations')
    .select('state')
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row?.state === 'pooled' || row?.state === 'bundled'
}

/** Whether `b` is the last bundle of operation `o`. */
export const isOf = sql<boolean>`o.chain_id = b.chain_id and o.hash = any(b.operations)
  and o.bundle_id = b.id`

/** Whether operation `o` waits in bundle `b`. */
export const isIn = sql<boolean>`${isOf} and o.state = 'bundled'`

/** Whether `l` is the row of operation `o` in the pool. */
export const isLive = sql<boolean>`o.chain_id = l.chain_id and o.hash = l.hash`

/** The operations of a bundle that are still in it. */
export async function operationsInBundle(
  db: Database,
  bundleId: bigint,
): Promise<StoredOperation[]> {
  const rows = await db
    .selectFrom('bundles as b')
    .innerJoin('operations as o', (join) => join.on(isIn))
    .selectAll('o')
    .where('b.id', '=', bundleId)
    .execute()
  return rows.map(toStored)
}

/**
 * Those of these accounts of which operations are in flight on the chain, on whatever EntryPoint; true where one of these
 * carries an authorization (EIP-7702).
 */
export async function sendersInFlight(
  db: Database,
  chainId: number,
  senders: readonly Address[],
): Promise<ReadonlyMap<Address, boolean>> {
  if (senders.length === 0) return new Map()
  const { rows } = await sql<{ sender: Address; delegates: boolean }>`
    select o.sender, bool_or(o.operation ? 'authorization') as delegates
    from bundles b join operations o on ${isIn}
    where b.chain_id = ${chainId} and b.state = 'signed' and o.sender = any(${senders}::text[])
    group by o.sender`.execute(db)
  return new Map(rows.map(({ sender, delegates }) => [sender, delegates]))
}

/** Operations of these accounts that carry an authorization (EIP-7702) and are pooled or in flight, on whatever EntryPoint. */
export async function delegatingOperations(
  db: Transaction,
  chainId: number,
  senders: readonly Address[],
): Promise<ReadonlyMap<Hex, Operation>> {
  if (senders.length === 0) return new Map()
  const { rows } = await sql<{ hash: Hex; operation: unknown }>`
    select o.hash, o.operation from live_operations l join operations o on ${isLive}
    where l.chain_id = ${chainId} and l.sender = any(${senders}::text[]) and l.delegates`.execute(
    db,
  )
  return new Map(rows.map(({ hash, operation }) => [hash, storedOperation(operation)]))
}

/** The channel on which a chain's bundlers hear that operations wait. */
export const OPERATIONS_CHANNEL = 'purser_operations'

/** Wakes the bundlers of a chain; the payload is the chain id. */
export async function announceOperations(db: Database, chainId: number): Promise<void> {
  await sql`select pg_notify(${OPERATIONS_CHANNEL}, ${String(chainId)})`.execute(db)
}

/**
 * Drops pooled operations for a reason, and the operations that wait behind them. Operations that are
 * no longer pooled stay as they are. Returns the dropped ones.
 */
export async function dropOperations(
  db: Database,
  chainId: number,
  drops: readonly Drop[],
): Promise<Hex[]> {
  if (drops.length === 0) return []
  return inTransaction(db, async (trx) => {
    const dropped: Hex[] = []
    for (const { hash, code, reason, nonceUsed = false } of drops) {
      const { numUpdatedRows } = await trx
        .updateTable('operations')
        .set({ state: 'dropped', reason_code: code, reason, updated_at: sql<Date>`now()` })
        .where('chain_id', '=', BigInt(chainId))
        .where('hash', '=', hash)
        .where(sql<boolean>`state = 'pooled'`)
        .executeTakeFirst()
      if (numUpdatedRows === 1n) dropped.push(hash)
      if (numUpdatedRows === 1n && !nonceUsed)
        dropped.push(...(await dropSuccessors(trx, chainId, [hash])))
    }
    await emitOperationEvents(trx, chainId, dropped)
    return dropped
  })
}

/** The last block in which a pooled operation has to be valid. */
type LastBlock = { readonly number: bigint; readonly timestamp: number }

/** The ways in which pooled operations expire: a condition on a row, and whether it holds for any of the chain. */
function expiries(chainId: number, last: LastBlock, maxAge: number) {
  const expiry = (column: string, isIndexed: string, end: ReturnType<typeof sql>) => ({
    ofOne: sql`(${sql.raw(isIndexed)} and l.${sql.ref(column)} < ${end})`,
    // The first of the index, and not whether there is one: for that the server may read the whole pool.
    ofAny: sql`((select l.${sql.ref(column)} from live_operations l
      where l.chain_id = ${chainId} and ${sql.raw(isIndexed)} and l.state <> 'bundled'
      order by l.${sql.ref(column)} limit 1) < ${end}) is true`,
  })
  return {
    time: expiry('valid_until', 'l.valid_until > 0', sql`${last.timestamp}::bigint`),
    block: expiry('valid_until_block', 'l.valid_until_block > 0', sql`${last.number}::bigint`),
    age: expiry(
      'received_at',
      "l.received_at > '-infinity'",
      sql`now() - make_interval(secs => ${maxAge}::float8)`,
    ),
  }
}

/** Is there an operation that `dropExpired` drops? */
export function expiresPooled(chainId: number, last: LastBlock, maxAge: number) {
  const { time, block, age } = expiries(chainId, last, maxAge)
  return sql<boolean>`(${time.ofAny} or ${block.ofAny} or ${age.ofAny})`
}

/**
 * Drops pooled operations whose validity ends before the block `last` or that have been pooled for more than
 * `maxAge` seconds, and the operations that wait behind them.
 */
export async function dropExpired(
  db: Database,
  chainId: number,
  last: LastBlock,
  maxAge: number,
): Promise<Hex[]> {
  const { time, block, age } = expiries(chainId, last, maxAge)
  const { rows: found } = await sql<{ expires: boolean }>`
    select ${expiresPooled(chainId, last, maxAge)} as expires`.execute(db)
  if (!found[0]!.expires) return []
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ hash: Hex }>`
      update operations o set state = 'dropped', updated_at = now(),
        reason_code = case when ${time.ofOne} or ${block.ofOne} then 'EXPIRED' else 'WAITED_TOO_LONG' end,
        reason = case when ${time.ofOne} then 'ends too soon to be bundled: valid until ' || l.valid_until || to_char(
            to_timestamp(l.valid_until) at time zone 'utc', '" ("YYYY-MM-DD"T"HH24:MI:SS.MS"Z)"')
            || ', a bundle must be valid until ' || ${timeText(last.timestamp)}::text
          when ${block.ofOne} then 'ends too soon to be bundled: valid until block ' || l.valid_until_block
            || ', a bundle must be valid until block ' || ${last.number}::bigint
          else 'no bundle took it in ' || ${maxAge}::float8
            || ' seconds; send it again with higher fees' end
      from live_operations l where l.chain_id = ${chainId} and l.state = 'pooled'
        and (${time.ofOne} or ${block.ofOne} or ${age.ofOne}) and ${isLive} and o.state = 'pooled'
      returning o.hash`.execute(trx)
    const expired = rows.map(({ hash }) => hash)
    const hashes = [...expired, ...(await dropSuccessors(trx, chainId, expired))]
    await emitOperationEvents(trx, chainId, hashes)
    return hashes
  })
}

/** The statement that puts operations into a bundle; its rows are those that were pooled. */
export function claimOperations(
  chainId: number,
  hashes: readonly Hex[],
  bundleId: Expression<bigint>,
) {
  return sql`update operations set state = 'bundled', bundle_id = ${bundleId}, updated_at = now()
    where chain_id = ${chainId} and hash = any(${hashes}::text[]) and state = 'pooled' returning 1`
}

/** Those of these hashes that belong to operations that are pooled, bundled or included. */
export async function acceptedHashes(
  db: Database,
  chainId: number,
  hashes: readonly Hex[],
): Promise<Set<Hex>> {
  const rows = await db
    .selectFrom('operations')
    .select('hash')
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', '=', sql<Hex>`any(${hashes}::text[])`)
    .where(sql<boolean>`state in ('pooled', 'bundled', 'included')`)
    .execute()
  return new Set(rows.map((row) => row.hash))
}

/** The columns of a stored operation. */
export const storedColumns = [
  'hash',
  'entry_point',
  'app_id',
  'operation',
  'max_fee_per_gas',
  'max_priority_fee_per_gas',
  'state',
  'reason_code',
  'reason',
  'attempts',
  'bundle_id',
  'received_at',
  'valid_until',
  'valid_until_block',
  'factory',
  'seen_block',
  'most_charged',
  'shared_by',
  'first_validation',
] as const

/** A row as the rest of the house knows it. */
export function toStored(
  row: Pick<Selectable<Schema['operations']>, (typeof storedColumns)[number]>,
): StoredOperation {
  return {
    hash: row.hash,
    entryPoint: row.entry_point,
    appId: row.app_id,
    operation: storedOperation(row.operation),
    bid: {
      maxFeePerGas: row.max_fee_per_gas,
      maxPriorityFeePerGas: row.max_priority_fee_per_gas,
    },
    state: row.state,
    reasonCode: row.reason_code,
    reason: row.reason,
    attempts: row.attempts,
    bundleId: row.bundle_id,
    receivedAt: row.received_at,
    validUntil: Number(row.valid_until),
    validUntilBlock: row.valid_until_block,
    factory: row.factory ?? undefined,
    seenBlock: row.seen_block,
    mostCharged: row.most_charged ?? undefined,
    sharedBy: row.shared_by,
    firstValidation: storedValidation(row.first_validation),
  }
}

/** The first validation in a row's jsonb column; undefined = it was taken in without one. */
export function storedValidation(column: unknown): FirstValidation | undefined {
  return (fromJson(column) as FirstValidation | null) ?? undefined
}

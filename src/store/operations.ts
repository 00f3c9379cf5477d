import { type Kysely, type Selectable, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Operation } from '../entrypoint/operation.js'
import { fromJson, toJson } from './json.js'
import type { OperationState, Schema } from './schema.js'

/** One operation with what became of it. Times are the database's. */
export type StoredOperation = {
  readonly hash: Hex
  readonly entryPoint: Address
  readonly operation: Operation
  readonly state: OperationState
  readonly reasonCode: string | null
  readonly reason: string | null
  readonly attempts: number
  readonly bundleId: bigint | null
  readonly receivedAt: Date
  /** Unix seconds; 0 = no end. */
  readonly validUntil: number
}

export type NewOperation = {
  readonly chainId: number
  readonly hash: Hex
  readonly entryPoint: Address
  readonly appId: string
  readonly operation: Operation
  /** wei */
  readonly prefund: bigint
  /** Unix seconds; 0 = no end. */
  readonly validUntil: number
}

/** Why an operation leaves the pool. */
export type Drop = { readonly hash: Hex; readonly code: string; readonly reason: string }

export const findOperation = async (
  db: Kysely<Schema>,
  chainId: number,
  hash: Hex,
): Promise<StoredOperation | undefined> => {
  const row = await db
    .selectFrom('operations')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row && toStored(row)
}

/** The operations of a bundle that are still in it. */
export const operationsInBundle = async (
  db: Kysely<Schema>,
  bundleId: bigint,
): Promise<StoredOperation[]> => {
  const rows = await db
    .selectFrom('operations')
    .selectAll()
    .where('bundle_id', '=', bundleId)
    .where('state', '=', 'bundled')
    .execute()
  return rows.map(toStored)
}

/**
 * Operations that a bundle may take now, the highest priority fee first: the lowest pending nonce
 * of each sender and nonce key, of senders that have nothing in an open bundle (a second bundle
 * could be mined before the first), and able to pay `baseFee` (wei per gas).
 */
export const pooledOperations = async (
  db: Kysely<Schema>,
  { chainId, entryPoint, baseFee, limit }: PoolQuery,
): Promise<StoredOperation[]> => {
  const rows = await db
    .selectFrom('operations as o')
    .selectAll('o')
    .where('o.chain_id', '=', BigInt(chainId))
    .where('o.entry_point', '=', entryPoint)
    .where('o.state', '=', 'pooled')
    .where('o.max_fee_per_gas', '>=', baseFee)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('operations as other')
            .select(sql`1`.as('one'))
            .whereRef('other.chain_id', '=', 'o.chain_id')
            .whereRef('other.entry_point', '=', 'o.entry_point')
            .whereRef('other.sender', '=', 'o.sender')
            .where('other.state', 'in', ['pooled', 'bundled'])
            .where(
              sql<boolean>`(other.state = 'bundled' or (other.nonce < o.nonce
                and div(other.nonce, ${nonceKeyUnit}) = div(o.nonce, ${nonceKeyUnit})))`,
            ),
        ),
      ),
    )
    .orderBy('o.max_priority_fee_per_gas', 'desc')
    .orderBy('o.received_at')
    .limit(limit)
    .execute()
  return rows.map(toStored)
}

type PoolQuery = {
  readonly chainId: number
  readonly entryPoint: Address
  readonly baseFee: bigint
  readonly limit: number
}

/** A nonce is `key << 64 | sequence`. */
const nonceKeyUnit = sql.raw(`${2n ** 64n}::numeric`)

/**
 * Inserts the operation as pooled. One that was dropped or replaced before comes back, but keeps the
 * count of bundles that failed with it.
 */
export const putOperation = async (db: Kysely<Schema>, entry: NewOperation): Promise<void> => {
  const { operation } = entry
  await db
    .insertInto('operations')
    .values({
      chain_id: BigInt(entry.chainId),
      hash: entry.hash,
      entry_point: entry.entryPoint,
      app_id: entry.appId,
      sender: operation.sender,
      nonce: operation.nonce,
      paymaster: operation.paymaster ?? null,
      max_fee_per_gas: operation.maxFeePerGas,
      max_priority_fee_per_gas: operation.maxPriorityFeePerGas,
      prefund: entry.prefund,
      valid_until: BigInt(entry.validUntil),
      operation: toJson(operation),
      state: 'pooled',
    })
    .onConflict((conflict) =>
      conflict
        .columns(['chain_id', 'hash'])
        .doUpdateSet((eb) => ({
          app_id: eb.ref('excluded.app_id'),
          operation: eb.ref('excluded.operation'),
          valid_until: eb.ref('excluded.valid_until'),
          state: eb.ref('excluded.state'),
          reason_code: null,
          reason: null,
          bundle_id: null,
          received_at: sql<Date>`now()`,
          updated_at: sql<Date>`now()`,
        }))
        .where('operations.state', 'in', ['dropped', 'replaced']),
    )
    .execute()
}

/** The channel on which a chain's bundlers hear that operations wait. */
export const operationsChannel = 'purser_operations'

/** Wakes the bundlers of a chain; the payload is the chain id. */
export const announceOperations = async (db: Kysely<Schema>, chainId: number): Promise<void> => {
  await sql`select pg_notify(${operationsChannel}, ${String(chainId)})`.execute(db)
}

/** A pooled operation gives way to `by`; false when it is no longer pooled. */
export const markReplaced = async (
  db: Kysely<Schema>,
  chainId: number,
  hash: Hex,
  by: Hex,
): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable('operations')
    .set({
      state: 'replaced',
      reason_code: 'REPLACED',
      reason: `replaced by operation ${by} with higher fees`,
      updated_at: sql<Date>`now()`,
    })
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', '=', hash)
    .where('state', '=', 'pooled')
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Pooled operations leave the pool for a reason; those that changed meanwhile are left alone. */
export const dropOperations = async (
  db: Kysely<Schema>,
  chainId: number,
  drops: readonly Drop[],
): Promise<void> => {
  for (const { hash, code, reason } of drops)
    await db
      .updateTable('operations')
      .set({ state: 'dropped', reason_code: code, reason, updated_at: sql<Date>`now()` })
      .where('chain_id', '=', BigInt(chainId))
      .where('hash', '=', hash)
      .where('state', '=', 'pooled')
      .execute()
}

/** Drops pooled operations whose time is over at `now` (Unix seconds of the chain). */
export const dropExpired = async (
  db: Kysely<Schema>,
  chainId: number,
  now: number,
): Promise<Hex[]> => {
  const rows = await db
    .updateTable('operations')
    .set({
      state: 'dropped',
      reason_code: 'EXPIRED',
      reason: sql<string>`'expired before it was bundled: validUntil ' || valid_until
        || ', block time ' || ${now}::bigint`,
      updated_at: sql<Date>`now()`,
    })
    .where('chain_id', '=', BigInt(chainId))
    .where('state', '=', 'pooled')
    .where('valid_until', '>', 0n)
    .where('valid_until', '<', BigInt(now))
    .returning('hash')
    .execute()
  return rows.map((row) => row.hash)
}

/**
 * Puts pooled operations into a bundle. Returns how many it could take: fewer than asked when one
 * was replaced or dropped meanwhile, and then the caller must roll back.
 */
export const claimOperations = async (
  db: Kysely<Schema>,
  chainId: number,
  hashes: readonly Hex[],
  bundleId: bigint,
): Promise<number> => {
  const rows = await db
    .updateTable('operations')
    .set({ state: 'bundled', bundle_id: bundleId, updated_at: sql<Date>`now()` })
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', 'in', hashes)
    .where('state', '=', 'pooled')
    .returning('hash')
    .execute()
  return rows.length
}

/** Of these hashes, those that we know, whatever their state. */
export const knownHashes = async (
  db: Kysely<Schema>,
  chainId: number,
  hashes: readonly Hex[],
): Promise<Set<Hex>> => {
  if (hashes.length === 0) return new Set()
  const rows = await db
    .selectFrom('operations')
    .select('hash')
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', 'in', hashes)
    .execute()
  return new Set(rows.map((row) => row.hash))
}

/** Is anything pooled or in an open bundle? */
export const hasLiveOperations = async (db: Kysely<Schema>, chainId: number): Promise<boolean> => {
  const row = await db
    .selectFrom('operations')
    .select('hash')
    .where('chain_id', '=', BigInt(chainId))
    .where('state', 'in', ['pooled', 'bundled'])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Members that JSON leaves out when they are undefined. */
const absent = { factory: undefined, paymaster: undefined, authorization: undefined }

const toStored = (row: Selectable<Schema['operations']>): StoredOperation => ({
  hash: row.hash,
  entryPoint: row.entry_point,
  operation: { ...absent, ...(fromJson(row.operation) as Operation) },
  state: row.state,
  reasonCode: row.reason_code,
  reason: row.reason,
  attempts: row.attempts,
  bundleId: row.bundle_id,
  receivedAt: row.received_at,
  validUntil: Number(row.valid_until),
})

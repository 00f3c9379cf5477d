import { type Kysely, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { BundleState, Schema } from './schema.js'

/** A signed transaction of a bundle; a bundle has one per fee level, all with the same nonce. */
export type Attempt = {
  readonly hash: Hex
  readonly raw: Hex
  /** wei per gas */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Milliseconds since it was signed, by the database's clock. */
  readonly age: number
}

/** A bundle whose outcome is not known yet. */
export type OpenBundle = {
  readonly id: bigint
  readonly entryPoint: Address
  readonly executor: Address
  readonly nonce: bigint
  /** Oldest first, never empty. */
  readonly attempts: readonly [Attempt, ...Attempt[]]
}

export type NewAttempt = Omit<Attempt, 'age'>

type NewBundle = {
  readonly chainId: number
  readonly entryPoint: Address
  readonly executor: Address
  readonly nonce: bigint
}

/** A new open bundle; its first attempt belongs in the same transaction. */
export const createBundle = async (trx: Kysely<Schema>, bundle: NewBundle): Promise<bigint> => {
  const { id } = await trx
    .insertInto('bundles')
    .values({
      chain_id: BigInt(bundle.chainId),
      entry_point: bundle.entryPoint,
      executor: bundle.executor,
      nonce: bundle.nonce,
      state: 'signed',
      transaction_hash: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export const addAttempt = async (
  trx: Kysely<Schema>,
  chainId: number,
  bundleId: bigint,
  attempt: NewAttempt,
): Promise<void> => {
  await trx
    .insertInto('bundle_transactions')
    .values({
      chain_id: BigInt(chainId),
      hash: attempt.hash,
      bundle_id: bundleId,
      raw: attempt.raw,
      max_fee_per_gas: attempt.maxFeePerGas,
      max_priority_fee_per_gas: attempt.maxPriorityFeePerGas,
    })
    .execute()
}

/** Open bundles of a chain with all their attempts, in nonce order. */
export const openBundles = async (db: Kysely<Schema>, chainId: number): Promise<OpenBundle[]> => {
  const rows = await db
    .selectFrom('bundles as b')
    .innerJoin('bundle_transactions as t', 't.bundle_id', 'b.id')
    .select(['b.id', 'b.entry_point', 'b.executor', 'b.nonce'])
    .select(['t.hash', 't.raw', 't.max_fee_per_gas', 't.max_priority_fee_per_gas'])
    .select(sql<number>`extract(epoch from now() - t.created_at)::float8 * 1000`.as('age'))
    .where('b.chain_id', '=', BigInt(chainId))
    .where('b.state', '=', 'signed')
    .orderBy('b.nonce')
    .orderBy('b.id')
    .orderBy('t.created_at')
    .orderBy('t.max_fee_per_gas')
    .execute()
  const bundles = new Map<bigint, OpenBundle>()
  for (const row of rows) {
    const attempt: Attempt = {
      hash: row.hash,
      raw: row.raw,
      maxFeePerGas: row.max_fee_per_gas,
      maxPriorityFeePerGas: row.max_priority_fee_per_gas,
      age: row.age,
    }
    const known = bundles.get(row.id)
    bundles.set(row.id, {
      id: row.id,
      entryPoint: row.entry_point,
      executor: row.executor,
      nonce: row.nonce,
      attempts: known ? [...known.attempts, attempt] : [attempt],
    })
  }
  return [...bundles.values()]
}

/** Of these transactions, those that are ours, with the bundle they belong to. */
export const bundlesOfTransactions = async (
  db: Kysely<Schema>,
  chainId: number,
  hashes: readonly Hex[],
): Promise<Map<Hex, bigint>> => {
  if (hashes.length === 0) return new Map()
  const rows = await db
    .selectFrom('bundle_transactions')
    .select(['hash', 'bundle_id'])
    .where('chain_id', '=', BigInt(chainId))
    .where('hash', 'in', hashes)
    .execute()
  return new Map(rows.map((row) => [row.hash, row.bundle_id]))
}

/** The newest transaction of a bundle, by which a client can watch it. */
export const latestAttempt = async (
  db: Kysely<Schema>,
  bundleId: bigint,
): Promise<Hex | undefined> => {
  const row = await db
    .selectFrom('bundle_transactions')
    .select('hash')
    .where('bundle_id', '=', bundleId)
    .orderBy('created_at', 'desc')
    .orderBy('max_fee_per_gas', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.hash
}

/** Ends an open bundle. `transactionHash` is the attempt that was mined, if one was. */
export const closeBundle = async (
  trx: Kysely<Schema>,
  bundleId: bigint,
  state: Exclude<BundleState, 'signed'>,
  transactionHash: Hex | null,
): Promise<void> => {
  await trx
    .updateTable('bundles')
    .set({ state, transaction_hash: transactionHash, updated_at: sql<Date>`now()` })
    .where('id', '=', bundleId)
    .execute()
}

/** What is still in a bundle that ended through no fault of its operations returns to the pool. */
export const releaseOperations = async (
  trx: Kysely<Schema>,
  bundleId: bigint,
): Promise<readonly Hex[]> => {
  const rows = await trx
    .updateTable('operations')
    .set({ state: 'pooled', bundle_id: null, updated_at: sql<Date>`now()` })
    .where('bundle_id', '=', bundleId)
    .where('state', '=', 'bundled')
    .returning('hash')
    .execute()
  return rows.map((row) => row.hash)
}

/**
 * What is still in a bundle that failed counts an attempt and returns to the pool; after
 * `maxAttempts` of them it is dropped, and keeps its last bundle as evidence.
 */
export const blameOperations = async (
  trx: Kysely<Schema>,
  bundleId: bigint,
  maxAttempts: number,
): Promise<readonly Hex[]> => {
  const spent = sql<boolean>`attempts + 1 >= ${maxAttempts}::int`
  const rows = await trx
    .updateTable('operations')
    .set({
      state: sql`case when ${spent} then 'dropped' else 'pooled' end`,
      reason_code: sql`case when ${spent} then 'BUNDLE_FAILED' end`,
      reason: sql`case when ${spent} then
        'the bundles with this operation failed ' || (attempts + 1) || ' times' end`,
      attempts: sql`attempts + 1`,
      bundle_id: sql`case when ${spent} then bundle_id end`,
      updated_at: sql<Date>`now()`,
    })
    .where('bundle_id', '=', bundleId)
    .where('state', '=', 'bundled')
    .returning('hash')
    .execute()
  return rows.map((row) => row.hash)
}

/** The transaction that ended a bundle. */
export const minedTransaction = async (
  db: Kysely<Schema>,
  bundleId: bigint,
): Promise<Hex | undefined> => {
  const row = await db
    .selectFrom('bundles')
    .select('transaction_hash')
    .where('id', '=', bundleId)
    .executeTakeFirst()
  return row?.transaction_hash ?? undefined
}

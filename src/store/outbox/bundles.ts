import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../database.js'
import type { BundleKind } from '../schema.js'

/** A signed transaction of a bundle; a bundle has one per fee level, all with the same nonce. */
export type BundleAttempt = {
  readonly hash: Hex
  readonly raw: Hex
  /** wei per gas */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** wei that it takes from the executor at most */
  readonly maxCost: bigint
  /** Does nothing but use the nonce up, so that no other attempt can be mined. */
  readonly noop: boolean
  /** Milliseconds since it was signed, by the database's clock. */
  readonly age: number
}

/**
 * A transaction of ours whose outcome is not known yet: a bundle of operations, a filler of a nonce
 * that was left out, or a refill of an executor.
 */
export type OpenBundle = {
  readonly id: bigint
  readonly kind: BundleKind
  /** null when it carries no operations. */
  readonly entryPoint: Address | null
  readonly executor: Address
  readonly nonce: bigint
  /** Operations that were signed with it. */
  readonly operationCount: number
  /** Operations that still wait for it. */
  readonly waitingCount: number
  /** The operator wants one of its operations back. */
  readonly cancelRequested: boolean
  /** The first end of its operations' validity: Unix seconds and a block, 0 = none. */
  readonly validUntil: number
  readonly validUntilBlock: bigint
  /** The head at which it was signed for a relay, until it is sent publicly; undefined = public. */
  readonly relayedFrom: bigint | undefined
  /** Oldest first, never empty. */
  readonly attempts: readonly [BundleAttempt, ...BundleAttempt[]]
}

export type NewAttempt = Omit<BundleAttempt, 'age'>

/** Open bundles of a chain with all their attempts, in nonce order. */
export async function openBundles(db: Database, chainId: number): Promise<OpenBundle[]> {
  const rows = await db
    .selectFrom('bundles as b')
    .innerJoin('bundle_transactions as t', 't.bundle_id', 'b.id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('operations as o')
          .select(sql<bigint>`count(*)`.as('waiting'))
          .select(sql<boolean>`bool_or(o.cancel_requested_at is not null)`.as('cancel'))
          .select(sql<bigint>`min(nullif(o.valid_until, 0))`.as('valid_until'))
          .select(sql<bigint>`min(nullif(o.valid_until_block, 0))`.as('valid_until_block'))
          .whereRef('o.bundle_id', '=', 'b.id')
          .where(sql<boolean>`o.state = 'bundled'`)
          .as('inside'),
      (join) => join.onTrue(),
    )
    .select(['b.id', 'b.kind', 'b.entry_point', 'b.executor', 'b.nonce', 'b.operation_count'])
    .select(['inside.waiting', 'inside.cancel', 't.noop', 't.max_cost'])
    .select(['inside.valid_until', 'inside.valid_until_block', 'b.relayed_from'])
    .select(['t.hash', 't.raw', 't.max_fee_per_gas', 't.max_priority_fee_per_gas'])
    .select(sql<number>`extract(epoch from now() - t.created_at)::float8 * 1000`.as('age'))
    .where('b.chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`b.state = 'signed'`)
    .orderBy('b.nonce')
    .orderBy('b.id')
    .orderBy('t.created_at')
    .orderBy('t.max_fee_per_gas')
    .execute()
  const bundles = new Map<bigint, OpenBundle>()
  for (const row of rows) {
    const attempt: BundleAttempt = {
      hash: row.hash,
      raw: row.raw,
      maxFeePerGas: row.max_fee_per_gas,
      maxPriorityFeePerGas: row.max_priority_fee_per_gas,
      maxCost: row.max_cost,
      noop: row.noop,
      age: row.age,
    }
    const bundle = bundles.get(row.id)
    bundles.set(row.id, {
      id: row.id,
      kind: row.kind,
      operationCount: row.operation_count,
      waitingCount: Number(row.waiting ?? 0),
      cancelRequested: row.cancel ?? false,
      validUntil: Number(row.valid_until ?? 0),
      validUntilBlock: row.valid_until_block ?? 0n,
      relayedFrom: row.relayed_from ?? undefined,
      entryPoint: row.entry_point,
      executor: row.executor,
      nonce: row.nonce,
      attempts: bundle ? [...bundle.attempts, attempt] : [attempt],
    })
  }
  return [...bundles.values()]
}

/** The signed bytes of a transaction that carried operations, and its bundle; undefined when it is not ours. */
export async function ownBundleTransaction(
  db: Database,
  chainId: number,
  hash: Hex,
): Promise<{ readonly bundleId: bigint; readonly raw: Hex } | undefined> {
  const row = await db
    .selectFrom('bundle_transactions as t')
    .innerJoin('bundles as b', 'b.id', 't.bundle_id')
    .select(['t.bundle_id', 't.raw'])
    .where('t.chain_id', '=', BigInt(chainId))
    .where('t.hash', '=', hash)
    .where('t.noop', '=', false)
    .where('b.kind', '=', 'operations')
    .executeTakeFirst()
  return row && { bundleId: row.bundle_id, raw: row.raw }
}

/** The bundle of a transaction of ours. */
export type OwnTransaction = {
  readonly bundleId: bigint
  readonly kind: BundleKind
  readonly noop: boolean
}

/** Those of these transactions that are ours, in whatever state their bundles are. */
export async function ownTransactions(
  db: Database,
  chainId: number,
  hashes: readonly Hex[],
): Promise<Map<Hex, OwnTransaction>> {
  if (hashes.length === 0) return new Map()
  const rows = await db
    .selectFrom('bundle_transactions as t')
    .innerJoin('bundles as b', 'b.id', 't.bundle_id')
    .select(['t.hash', 't.bundle_id', 't.noop', 'b.kind'])
    .where('t.chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`t.hash = any(${hashes}::text[])`)
    .execute()
  return new Map(
    rows.map(({ hash, bundle_id, noop, kind }) => [hash, { bundleId: bundle_id, kind, noop }]),
  )
}

/** The signed bytes of those of these transactions that are ours. */
export async function rawTransactions(
  db: Database,
  chainId: number,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, Hex>> {
  const rows = await db
    .selectFrom('bundle_transactions')
    .select(['hash', 'raw'])
    .where('chain_id', '=', BigInt(chainId))
    .where(sql<boolean>`hash = any(${hashes}::text[])`)
    .execute()
  return new Map(rows.map(({ hash, raw }) => [hash, raw]))
}

/** The newest transaction that carries the bundle, by which a client can watch it. */
export async function latestAttempt(db: Database, bundleId: bigint): Promise<Hex | undefined> {
  const row = await db
    .selectFrom('bundle_transactions')
    .select('hash')
    .where('bundle_id', '=', bundleId)
    .where('noop', '=', false)
    .orderBy('created_at', 'desc')
    .orderBy('max_fee_per_gas', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.hash
}

/** All transactions that carry the bundle; the chain may include any one of them. */
export async function attemptsOf(db: Database, bundleId: bigint): Promise<readonly Hex[]> {
  const rows = await db
    .selectFrom('bundle_transactions')
    .select('hash')
    .where('bundle_id', '=', bundleId)
    .where('noop', '=', false)
    .execute()
  return rows.map(({ hash }) => hash)
}

/** The transaction that ended a bundle. */
export async function minedTransaction(db: Database, bundleId: bigint): Promise<Hex | undefined> {
  const row = await db
    .selectFrom('bundles')
    .select('transaction_hash')
    .where('id', '=', bundleId)
    .executeTakeFirst()
  return row?.transaction_hash ?? undefined
}

import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { Lru } from '../../base/lru.js'
import type { Database } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import { isIn } from '../../mempool/pool/operations.js'

export type BundleKind = Schema['bundles']['kind']

/** A signed transaction of a bundle; a bundle has one per fee level, all with the same nonce. */
export type BundleAttempt = {
  readonly hash: Hex
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
 * that was left out, a refill of an executor, or what is returned to a tank.
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
  /** The senders of those that wait. */
  readonly senders: readonly Address[]
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

export type NewAttempt = Omit<BundleAttempt, 'age'> & {
  /** The signed bytes. Lists leave them out: they are as long as all operations together. */
  readonly raw: Hex
}

/** Open bundles of a chain with all their attempts, in nonce order. */
export function openBundles(db: Database, chainId: number): Promise<OpenBundle[]> {
  return bundlesWhere(db, chainId, sql<boolean>`b.state = 'signed'`)
}

async function bundlesWhere(
  db: Database,
  chainId: number,
  condition: ReturnType<typeof sql<boolean>>,
): Promise<OpenBundle[]> {
  const rows = await db
    .selectFrom('bundles as b')
    .innerJoin('bundle_transactions as t', 't.bundle_id', 'b.id')
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('operations as o')
          .select(sql<Address[] | null>`array_agg(o.sender)`.as('senders'))
          .select(sql<boolean>`bool_or(o.cancel_requested_at is not null)`.as('cancel'))
          .select(sql<bigint>`min(nullif(o.valid_until, 0))`.as('valid_until'))
          .select(sql<bigint>`min(nullif(o.valid_until_block, 0))`.as('valid_until_block'))
          .where(isIn)
          .as('inside'),
      (join) => join.onTrue(),
    )
    .select(['b.id', 'b.kind', 'b.entry_point', 'b.executor', 'b.nonce', 'b.operation_count'])
    .select('b.state')
    .select(['inside.senders', 'inside.cancel', 't.noop', 't.max_cost'])
    .select(['inside.valid_until', 'inside.valid_until_block', 'b.relayed_from'])
    .select(['t.hash', 't.max_fee_per_gas', 't.max_priority_fee_per_gas'])
    .select(sql<number>`extract(epoch from now() - t.created_at)::float8 * 1000`.as('age'))
    .where('b.chain_id', '=', BigInt(chainId))
    .where(condition)
    .orderBy('b.nonce')
    .orderBy('b.id')
    .orderBy('t.created_at')
    .orderBy('t.max_fee_per_gas')
    .execute()
  const bundles = new Map<bigint, OpenBundle>()
  for (const row of rows) {
    const attempt: BundleAttempt = {
      hash: row.hash,
      maxFeePerGas: row.max_fee_per_gas,
      maxPriorityFeePerGas: row.max_priority_fee_per_gas,
      maxCost: row.max_cost,
      noop: row.noop,
      age: row.age,
    }
    const bundle = bundles.get(row.id)
    const senders = row.senders ?? []
    bundles.set(row.id, {
      id: row.id,
      kind: row.kind,
      operationCount: row.operation_count,
      // Nothing is to be done about the operations of a settled one, which are where they belong.
      waitingCount: row.state === 'signed' ? senders.length : row.operation_count,
      senders,
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

/** The open bundles at one moment, and the id of the newest bundle of any state just before it, 0 = none. */
export type OpenView = { readonly open: readonly OpenBundle[]; readonly newest: bigint }

export async function viewOpen(db: Database, chainId: number): Promise<OpenView> {
  const row = await db
    .selectFrom('bundles')
    .select('id')
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return { newest: row?.id ?? 0n, open: await openBundles(db, chainId) }
}

/**
 * The bundles that were open at some time since `view`, in nonce order: those of the lanes as the chain was then. One that
 * the index has settled meanwhile still counts for nonce and money, as it does in that state of the chain.
 */
export function openSince(
  db: Database,
  chainId: number,
  { open, newest }: OpenView,
): Promise<OpenBundle[]> {
  const ids = open.map(({ id }) => id)
  // One that we have abandoned meanwhile does free its nonce.
  return bundlesWhere(
    db,
    chainId,
    sql<boolean>`(b.state = 'signed' or (b.id > ${newest} and b.state <> 'abandoned')
      or (b.id = any(${ids}::bigint[]) and b.state <> 'abandoned'))`,
  )
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
type OwnTransaction = {
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

/** Signed bytes by their hash, of transactions that were signed or sent recently. */
const knownBytes = new Lru<Hex, Hex>(16)

/** Remembers the bytes of a transaction, which follow each other to the store and to the node. */
export function rememberRaw({ hash, raw }: Pick<NewAttempt, 'hash' | 'raw'>): void {
  knownBytes.set(hash, raw)
}

/** The signed bytes of a transaction of ours. */
export async function rawTransaction(db: Database, chainId: number, hash: Hex): Promise<Hex> {
  const raw = knownBytes.get(hash) ?? (await rawTransactions(db, chainId, [hash])).get(hash)
  if (raw === undefined) throw new Error(`the transaction ${hash} is not stored`)
  rememberRaw({ hash, raw })
  return raw
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

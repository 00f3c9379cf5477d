import { type Selectable, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { compareBigints, smallest } from '../../base/bigints.js'
import { Lru } from '../../base/lru.js'
import type { Database } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import { type StoredOperation, storedColumns, toStored } from './operations.js'
import { nonceKeyUnit } from './successors.js'

/**
 * Operations that a bundle may take now, those that pay the most first: the lowest pending nonce of each
 * sender and nonce key, of senders that have nothing in an open bundle (a second bundle could be mined
 * before the first), and sure to pay `leastTip` over `baseFee` (wei per gas). Whatever else they bid,
 * operations that pay less do not take the places of these.
 */
export async function pooledOperations(db: Database, query: PoolQuery): Promise<StoredOperation[]> {
  const { baseFee, leastTip, limit } = query
  const payingTip = readyOperations(db, query)
    .where(sql<boolean>`o.assured_price - o.max_priority_fee_per_gas >= ${baseFee}`)
    .where('o.max_priority_fee_per_gas', '>=', leastTip)
    .orderBy('o.max_priority_fee_per_gas', 'desc')
  const payingLess = readyOperations(db, query)
    .where(sql<boolean>`o.assured_price - o.max_priority_fee_per_gas < ${baseFee}`)
    .where(sql<boolean>`o.assured_price >= ${baseFee + leastTip}`)
    .orderBy('o.assured_price', 'desc')
  const [best, next] = [payingTip, payingLess].map((kind) =>
    kind.orderBy('o.received_at').limit(limit),
  )
  const { rows } = await sql<PooledRow>`select * from (${best}) as best
    union all select * from (${next}) as next`.execute(db)
  const tipOf = ({ max_priority_fee_per_gas: tip, assured_price }: PooledRow) =>
    smallest(tip, assured_price - baseFee)
  const ranked = rows
    .sort(
      (a, b) =>
        compareBigints(tipOf(b), tipOf(a)) || a.received_at.getTime() - b.received_at.getTime(),
    )
    .slice(0, limit)
  return withDocuments(db, query.chainId, ranked)
}

/** Bytes of all operations that are remembered. */
const MOST_REMEMBERED = 64_000_000
/** Bytes of an operation and of its validation (see `KnownValidations`) in addition to its documents, measured. */
const BYTES_OF_ONE = 10_000

/**
 * Operations as this process stored or read them last, by their hash: a candidate is looked at for several bundles, and
 * its documents are most of its row. One that left the pool and came back has another time.
 */
const known = new Lru<Hex, StoredOperation>(MOST_REMEMBERED, ({ operation }) =>
  Object.values(operation).reduce<number>(
    (sum, member) => sum + (typeof member === 'string' ? member.length : 0),
    BYTES_OF_ONE,
  ),
)

/** Remembers an operation that was stored in the pool, so that bundles need not read it. */
export function rememberPooled(operation: StoredOperation): void {
  known.set(operation.hash, operation)
}

/** Forgets operations that are no candidates any more, because a bundle has them. */
export function forgetPooled(hashes: readonly Hex[]): void {
  for (const hash of hashes) known.delete(hash)
}

/** The whole operations of these rows; without those that are gone meanwhile. */
async function withDocuments(
  db: Database,
  chainId: number,
  ranked: readonly PooledRow[],
): Promise<StoredOperation[]> {
  const operations = new Map<Hex, StoredOperation>()
  for (const { hash } of ranked) {
    const operation = known.get(hash)
    if (operation) operations.set(hash, operation)
  }
  const find = ({ hash, received_at }: PooledRow): StoredOperation | undefined => {
    const operation = operations.get(hash)
    return operation?.receivedAt.getTime() === received_at.getTime() ? operation : undefined
  }
  const unknown = ranked.filter((row) => find(row) === undefined).map(({ hash }) => hash)
  if (unknown.length > 0) {
    const rows = await db
      .selectFrom('operations')
      .select(storedColumns)
      .where('chain_id', '=', BigInt(chainId))
      .where(sql<boolean>`hash = any(${unknown}::text[])`)
      .execute()
    for (const operation of rows.map(toStored)) {
      operations.set(operation.hash, operation)
      rememberPooled(operation)
    }
  }
  return ranked.flatMap((row) => {
    const operation = find(row)
    return operation ? [{ ...operation, attempts: row.attempts }] : []
  })
}

/** Those of the EntryPoints for which an operation is pooled. */
export async function pooledEntryPoints(
  db: Database,
  chainId: number,
  entryPoints: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const { rows } = await sql<{ readonly address: Address }>`
    select e.address from unnest(${entryPoints}::text[]) as e (address)
    where exists (select from live_operations l
      where l.chain_id = ${chainId} and l.entry_point = e.address and l.state = 'pooled')`.execute(
    db,
  )
  return new Set(rows.map(({ address }) => address))
}

type PooledRow = Pick<Selectable<Schema['live_operations']>, (typeof rankedColumns)[number]>

/** What ranks an operation and may change while it is pooled. */
const rankedColumns = [
  'hash',
  'max_priority_fee_per_gas',
  'assured_price',
  'received_at',
  'attempts',
] as const

/** Pooled operations that nothing of their sender keeps from being bundled. */
function readyOperations(db: Database, { chainId, entryPoint, without, inFlight }: PoolQuery) {
  return (
    db
      .selectFrom('live_operations as o')
      .select(rankedColumns.map((column) => `o.${column}` as const))
      .where('o.chain_id', '=', BigInt(chainId))
      .where('o.entry_point', '=', entryPoint)
      // The condition of the indexes. Not `state = 'pooled'`: while the server has no statistics, it would expect few
      // rows and sort them all.
      .where(sql<boolean>`o.assured_price >= 0 and o.state <> 'bundled'`)
      // Not `<> all`, which would compare each operation with each of them.
      .where(sql<boolean>`o.hash not in (select unnest(${[...without]}::text[]))`)
      .where(sql<boolean>`o.sender not in (select unnest(${inFlight}::text[]))`)
      // Not as a join, which the server may begin with all operations of the EntryPoint for each one.
      .where(
        sql<boolean>`(select 1 from live_operations other
        where other.chain_id = o.chain_id and other.entry_point = o.entry_point
          and other.sender = o.sender
          and other.nonce >= div(o.nonce, ${nonceKeyUnit}) * ${nonceKeyUnit} and other.nonce < o.nonce
        limit 1) is null`,
      )
  )
}

export type PoolQuery = {
  readonly chainId: number
  readonly entryPoint: Address
  /** wei per gas */
  readonly baseFee: bigint
  readonly leastTip: bigint
  /** Hashes that are passed over. */
  readonly without: ReadonlySet<Hex>
  /** Senders with an operation in an open bundle. */
  readonly inFlight: readonly Address[]
  readonly limit: number
}

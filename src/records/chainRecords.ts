import { type Selectable, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { z } from 'zod'
import type { Database } from '../db/database.js'
import { type Page, type PageQuery, toPage } from '../db/page.js'
import type { Schema } from '../db/schema.generated.js'
import { isOf } from '../mempool/pool/operations.js'
import { type AnswerOf, time } from '../tenants/schemas.js'

const tip = z.number().nullable()

/** The waiting operations of a chain, of all tenants. */
export const waitingPool = z.object({
  pooled: z.string(),
  bundled: z.string(),
  oldestAt: time.nullable(),
  /** wei per gas: tips of the pooled ones. */
  tips: z.object({ p10: tip, p50: tip, p90: tip }),
})

type PoolSummary = AnswerOf<typeof waitingPool>

export async function poolSummary(db: Database, chainId: number): Promise<PoolSummary> {
  const { rows } = await sql<Omit<PoolSummary, 'tips'> & PoolSummary['tips']>`
    select count(*) filter (where state = 'pooled') as pooled,
      count(*) filter (where state = 'bundled') as bundled, min(received_at) as "oldestAt",
      percentile_disc(0.1) within group (order by max_priority_fee_per_gas)::float8 as p10,
      percentile_disc(0.5) within group (order by max_priority_fee_per_gas)::float8 as p50,
      percentile_disc(0.9) within group (order by max_priority_fee_per_gas)::float8 as p90
    from live_operations where chain_id = ${chainId}`.execute(db)
  const { p10 = null, p50 = null, p90 = null, ...counts } = rows[0] ?? {}
  return { pooled: 0n, bundled: 0n, oldestAt: null, ...counts, tips: { p10, p50, p90 } }
}

export type ListedBundle = Selectable<Schema['bundles']> & {
  /** Transactions that were signed for it. */
  readonly attempts: bigint
}

/** Bundles of other chains that a page passes over. */
const MOST_SCANNED = 10_000

/** The transactions of ours on a chain, the newest first; the cursor is an id. */
export async function listBundles(
  db: Database,
  chainId: number,
  { limit, before }: PageQuery,
): Promise<Page<ListedBundle>> {
  const older = before === undefined ? sql`true` : sql`id < ${BigInt(before)}`
  const newest = sql`select * from bundles where ${older} order by id desc limit ${MOST_SCANNED}`
  const { rows } = await sql<ListedBundle>`
    select b.*, (select count(*) from bundle_transactions t where t.bundle_id = b.id) as attempts
    from (
      select * from (${newest}) newest where chain_id = ${chainId} order by id desc limit ${limit + 1}
    ) b order by b.id desc`.execute(db)
  const page = toPage(rows, limit, ({ id }) => String(id))
  if (page.next !== undefined) return page
  const edge = await sql<{ id: bigint }>`select id from bundles where ${older}
    order by id desc offset ${MOST_SCANNED - 1} limit 1`.execute(db)
  const [last] = edge.rows
  return last === undefined ? page : { ...page, next: String(last.id) }
}

type BundleRecord = {
  readonly bundle: Selectable<Schema['bundles']>
  readonly transactions: readonly Omit<Selectable<Schema['bundle_transactions']>, 'raw'>[]
  /** The operations that are in it, or that it included. */
  readonly hashes: readonly Hex[]
}

export async function findBundle(
  db: Database,
  chainId: number,
  id: bigint,
): Promise<BundleRecord | undefined> {
  const bundle = await db
    .selectFrom('bundles')
    .selectAll()
    .where('id', '=', id)
    .where('chain_id', '=', BigInt(chainId))
    .executeTakeFirst()
  if (bundle === undefined) return undefined
  const [transactions, operations] = await Promise.all([
    db
      .selectFrom('bundle_transactions')
      .select(['chain_id', 'hash', 'bundle_id', 'max_fee_per_gas', 'max_priority_fee_per_gas'])
      .select(['max_cost', 'noop', 'created_at'])
      .where('bundle_id', '=', id)
      .orderBy('created_at')
      .execute(),
    db
      .selectFrom('bundles as b')
      .innerJoin('operations as o', (join) => join.on(isOf))
      .select('o.hash')
      .where('b.id', '=', id)
      .execute(),
  ])
  return { bundle, transactions, hashes: operations.map(({ hash }) => hash) }
}

/** The cursor of a list of reputations: `entryPoint:address` of the last one of a page. */
export const reputationCursor = /^0x[0-9a-f]{40}:0x[0-9a-f]{40}$/

/** Reputations at a chain's EntryPoints by address. */
export async function listReputations(
  db: Database,
  chainId: number,
  { limit, before }: PageQuery,
): Promise<Page<Selectable<Schema['reputations']>>> {
  const [entryPoint = '', address = ''] = (before ?? '').split(':') as Address[]
  const rows = await db
    .selectFrom('reputations')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .$if(before !== undefined, (query) =>
      query.where(sql<boolean>`(entry_point, address) > (${entryPoint}, ${address})`),
    )
    .orderBy('entry_point')
    .orderBy('address')
    .limit(limit + 1)
    .execute()
  return toPage(rows, limit, (row) => `${row.entry_point}:${row.address}`)
}

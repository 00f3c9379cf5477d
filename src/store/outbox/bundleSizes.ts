import { sql } from 'kysely'
import type { Address } from 'viem'
import type { Database } from '../database.js'

/** The sizes of bundle of one EntryPoint that estimates reckoned with lately. */
export type RecentSizes = {
  readonly entryPoint: Address
  /** The newest one; undefined when it is too old to be relied on. */
  readonly current: number | undefined
  /** The largest that may still be in an operation that is signed now. */
  readonly largest: number
}

/** Seconds for which a size is told: the bundler repeats it while it holds. */
const TOLD_FOR = 20
/** Seconds from an estimate to the operation that was made with it, at most. */
const ESTIMATE_LIFE = 300
/** Seconds after which a size is of no use to anybody. */
const FORGOTTEN_AFTER = 3_600

/** Stores the size that estimates reckon with from now on. */
export async function putBundleSize(
  db: Database,
  chainId: number,
  entryPoint: Address,
  size: number,
): Promise<void> {
  await sql`with forgotten as (
      delete from bundle_sizes where chain_id = ${chainId} and entry_point = ${entryPoint}
        and decided_at < now() - make_interval(secs => ${FORGOTTEN_AFTER})
    )
    insert into bundle_sizes (chain_id, entry_point, size)
    values (${chainId}, ${entryPoint}, ${size})
    on conflict do nothing`.execute(db)
}

/** The sizes of a chain by the database's clock, which all processes share. */
export async function recentSizes(db: Database, chainId: number): Promise<RecentSizes[]> {
  const { rows } = await sql<{ entryPoint: Address; current: number | null; largest: number }>`
    select entry_point as "entryPoint", max(size) as largest,
      case when max(decided_at) > now() - make_interval(secs => ${TOLD_FOR})
        then (array_agg(size order by decided_at desc))[1] end as current
    from bundle_sizes
    where chain_id = ${chainId}
      and decided_at > now() - make_interval(secs => ${TOLD_FOR + ESTIMATE_LIFE})
    group by entry_point`.execute(db)
  return rows.map(({ entryPoint, current, largest }) => ({
    entryPoint,
    current: current ?? undefined,
    largest,
  }))
}

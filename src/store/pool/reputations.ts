import { type QueryExecutorProvider, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, TransactionExecutor } from '../database.js'

/** An entity at one EntryPoint of a chain, with its live operations by its role in them. */
export type EntityFacts = {
  readonly entryPoint: Address
  readonly address: Address
  readonly opsSeen: number
  readonly opsIncluded: number
  /** A tank of ours: what it signs for is our own doing. */
  readonly trusted: boolean
  readonly asSender: number
  /** 0 for a tank, which may have any number. */
  readonly asPaymaster: number
  /** Of a factory that few operations were seen of only whether it has any. */
  readonly asFactory: number
}

type Named = { readonly entryPoint: Address; readonly address: Address }

/** Below this ops_seen no reputation is bad, and pending operations need not be counted. */
const HARMLESS_SEEN = 110

const live = sql`o.state in ('pooled', 'bundled') and o.chain_id = e.chain_id
  and o.entry_point = e.entry_point`

/** What is known of these entities; of one that was never seen, zeros. */
export async function readEntityFacts(
  db: QueryExecutorProvider,
  chainId: number,
  entities: readonly Named[],
): Promise<EntityFacts[]> {
  const entryPoints = entities.map(({ entryPoint }) => entryPoint)
  const addresses = entities.map(({ address }) => address)
  const { rows } = await sql<{
    entry_point: Address
    address: Address
    ops_seen: bigint
    ops_included: bigint
    trusted: boolean
    as_sender: bigint
    as_paymaster: bigint
    as_factory: bigint
  }>`
    select e.*,
      (select count(*) from operations o where ${live} and o.sender = e.address) as as_sender,
      case when e.trusted then 0 else (select count(*) from operations o
        where ${live} and o.paymaster = e.address) end as as_paymaster,
      case when e.ops_seen < ${HARMLESS_SEEN}
        then (select count(*) from (select 1 from operations o
          where ${live} and o.factory = e.address limit 1) as any_of_them)
        else (select count(*) from operations o where ${live} and o.factory = e.address)
        end as as_factory
    from (
      select ${chainId}::bigint as chain_id, n.entry_point, n.address,
        coalesce(r.ops_seen, 0) as ops_seen, coalesce(r.ops_included, 0) as ops_included,
        exists (select 1 from tanks t where t.chain_id = ${chainId}
          and t.entry_point = n.entry_point and t.address = n.address) as trusted
      from (select distinct * from unnest(${entryPoints}::text[], ${addresses}::text[])
        as given(entry_point, address)) as n
      left join reputations r on r.chain_id = ${chainId} and r.entry_point = n.entry_point
        and r.address = n.address
    ) as e`.execute(db)
  return rows.map((row) => ({
    entryPoint: row.entry_point,
    address: row.address,
    opsSeen: Number(row.ops_seen),
    opsIncluded: Number(row.ops_included),
    trusted: row.trusted,
    asSender: Number(row.as_sender),
    asPaymaster: Number(row.as_paymaster),
    asFactory: Number(row.as_factory),
  }))
}

/** Operations whose entities are counted, by what happened to them, and entities counted themselves. */
export type ReputationChanges = {
  /** Taken into the pool. */
  readonly seen?: readonly Hex[]
  /** Left it by another's doing: as if never seen. */
  readonly unseen?: readonly Hex[]
  readonly included?: readonly Hex[]
  /** Inclusion was undone by a reorg. */
  readonly excluded?: readonly Hex[]
  /** Seen once more, as blame for an operation that failed. */
  readonly blamed?: readonly Named[]
}

/**
 * Counts in one statement, which takes the rows in one order, so that transactions that count at the
 * same time cannot deadlock; call it at most once in a transaction, as its last statement.
 */
export async function countReputations(
  trx: TransactionExecutor,
  chainId: number,
  { seen = [], unseen = [], included = [], excluded = [], blamed = [] }: ReputationChanges,
): Promise<void> {
  const operations = [
    ...seen.map((hash) => ({ hash, seen: 1, included: 0 })),
    ...unseen.map((hash) => ({ hash, seen: -1, included: 0 })),
    ...included.map((hash) => ({ hash, seen: 0, included: 1 })),
    ...excluded.map((hash) => ({ hash, seen: 0, included: -1 })),
  ]
  if (operations.length + blamed.length === 0) return
  await sql`
    insert into reputations as r (chain_id, entry_point, address, ops_seen, ops_included)
    select ${chainId}::bigint, entry_point, address, sum(seen), sum(included)
    from (
      select o.entry_point, counted.address, c.seen, c.included
      from unnest(${operations.map(({ hash }) => hash)}::text[],
        ${operations.map((each) => each.seen)}::bigint[],
        ${operations.map((each) => each.included)}::bigint[]) as c(hash, seen, included)
      cross join lateral (select entry_point, counted from operations
        where chain_id = ${chainId} and hash = c.hash limit 1) as o
      cross join unnest(o.counted) as counted(address)
      union all
      select e.entry_point, e.address, 1, 0
      from unnest(${blamed.map(({ entryPoint }) => entryPoint)}::text[],
        ${blamed.map(({ address }) => address)}::text[]) as e(entry_point, address)
    ) as changes
    group by entry_point, address order by entry_point, address
    on conflict (chain_id, entry_point, address) do update set
      ops_seen = greatest(r.ops_seen + excluded.ops_seen, 0),
      ops_included = greatest(r.ops_included + excluded.ops_included, 0)`.execute(trx)
}

/** BAN_OPS_SEEN_PENALTY */
const CRASH_PENALTY = 10_000

/** GREP-040: the entity made a bundle fail that it had been found valid for. */
export async function banEntity(
  db: Database,
  chainId: number,
  { entryPoint, address }: Named,
): Promise<void> {
  await sql`
    insert into reputations as r (chain_id, entry_point, address, ops_seen, ops_included)
    values (${chainId}, ${entryPoint}, ${address}, ${CRASH_PENALTY}, 0)
    on conflict (chain_id, entry_point, address) do update set
      ops_seen = r.ops_seen + ${CRASH_PENALTY}, ops_included = 0`.execute(db)
}

/** Inclusions that a throttled entity is put behind: half-way between THROTTLING_SLACK and BAN_SLACK. */
const THROTTLED_BEHIND = 30
/** MIN_INCLUSION_RATE_DENOMINATOR */
const INCLUSION_RATE = 10

/** EREP-070: throttles an entity until it has had 20 inclusions more, or the hours have passed over it. */
export async function throttleEntity(
  db: Database,
  chainId: number,
  { entryPoint, address }: Named,
): Promise<void> {
  await sql`
    insert into reputations as r (chain_id, entry_point, address, ops_seen, ops_included)
    values (${chainId}, ${entryPoint}, ${address}, ${INCLUSION_RATE * THROTTLED_BEHIND}, 0)
    on conflict (chain_id, entry_point, address) do update set ops_seen =
      greatest(r.ops_seen, ${INCLUSION_RATE} * (r.ops_included + ${THROTTLED_BEHIND}))`.execute(db)
}

export type StoredReputation = {
  readonly address: Address
  readonly opsSeen: number
  readonly opsIncluded: number
  /** Its operations in the pool and in open bundles. */
  readonly pending: number
}

/**
 * All entities that an EntryPoint's operations were counted for; with `suspectsOnly` those that may be
 * throttled or banned, tanks never.
 */
export async function readReputations(
  db: Database,
  chainId: number,
  entryPoint: Address,
  suspectsOnly = false,
): Promise<StoredReputation[]> {
  const { rows } = await sql<{
    address: Address
    ops_seen: bigint
    ops_included: bigint
    pending: bigint
  }>`
    select e.address, e.ops_seen, e.ops_included,
      (select count(*) from operations o where ${live} and o.sender = e.address)
      + (select count(*) from operations o where ${live} and o.paymaster = e.address)
      + (select count(*) from operations o where ${live} and o.factory = e.address) as pending
    from reputations e
    where e.chain_id = ${chainId} and e.entry_point = ${entryPoint}
      and (not ${suspectsOnly}::boolean or (e.ops_seen >= ${HARMLESS_SEEN}
        and not exists (select 1 from tanks t where t.chain_id = e.chain_id
          and t.entry_point = e.entry_point and t.address = e.address)))
    order by e.address`.execute(db)
  return rows.map((row) => ({
    address: row.address,
    opsSeen: Number(row.ops_seen),
    opsIncluded: Number(row.ops_included),
    pending: Number(row.pending),
  }))
}

/**
 * Takes a 24th of every counter for each hour that passed by the database's clock since the last
 * time, whoever calls it and however often; what came to nothing is forgotten.
 */
export async function decayReputations(db: Database, chainId: number): Promise<void> {
  for (;;) {
    const { numAffectedRows = 0n } = await sql`
      update reputations set hour = hour + 1,
        ops_seen = ops_seen * 23 / 24, ops_included = ops_included * 23 / 24
      where chain_id = ${chainId} and hour < floor(extract(epoch from now()) / 3600)`.execute(db)
    if (numAffectedRows === 0n) return
    await sql`delete from reputations
      where chain_id = ${chainId} and ops_seen = 0 and ops_included = 0`.execute(db)
  }
}

/** Sets counters, for tests of a bundler from outside. */
export async function setReputations(
  db: Database,
  chainId: number,
  entryPoint: Address,
  entities: readonly Pick<StoredReputation, 'address' | 'opsSeen' | 'opsIncluded'>[],
): Promise<void> {
  for (const { address, opsSeen, opsIncluded } of entities)
    await sql`
      insert into reputations (chain_id, entry_point, address, ops_seen, ops_included)
      values (${chainId}, ${entryPoint}, ${address}, ${opsSeen}, ${opsIncluded})
      on conflict (chain_id, entry_point, address) do update set
        ops_seen = excluded.ops_seen, ops_included = excluded.ops_included`.execute(db)
}

/** Forgets all reputations of a chain. */
export async function clearReputations(db: Database, chainId: number): Promise<void> {
  await db.deleteFrom('reputations').where('chain_id', '=', BigInt(chainId)).execute()
}

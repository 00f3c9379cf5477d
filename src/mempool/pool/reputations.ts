import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, TransactionExecutor } from '../../db/database.js'
import { THROTTLED_OPERATIONS } from '../reputation.js'

/** An entity at one EntryPoint of a chain, with its live operations by its role in them. */
export type EntityFacts = {
  readonly entryPoint: Address
  readonly address: Address
  readonly opsSeen: number
  readonly opsIncluded: number
  /** A tank of ours: it pays only for operations that we signed for. */
  readonly trusted: boolean
  readonly asSender: number
  /** 0 for a tank, which may have any number. */
  readonly asPaymaster: number
  /** For a factory with few operations seen: no more than as many as bound it. */
  readonly asFactory: number
}

type EntityName = { readonly entryPoint: Address; readonly address: Address }

/** Below this ops_seen no reputation is bad, and pending operations need not be counted. */
const HARMLESS_SEEN = 110

/** The live operations in which entity `e` has this role. */
function operationsAs(role: 'sender' | 'paymaster' | 'factory') {
  return sql`live_operations l where l.chain_id = e.chain_id
    and l.entry_point = e.entry_point and l.${sql.ref(role)} = e.address`
}

/** How many these are. */
function countAs(role: 'sender' | 'paymaster' | 'factory') {
  return sql`(select count(*) from ${operationsAs(role)})`
}

/** The facts of these entities; zeros of one that was never seen. */
export async function readEntityFacts(
  db: QueryExecutorProvider,
  chainId: number,
  entities: readonly EntityName[],
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
      ${countAs('sender')} as as_sender,
      case when e.trusted then 0 else ${countAs('paymaster')} end as as_paymaster,
      case when e.ops_seen < ${HARMLESS_SEEN}
        then (select count(*) from (select 1 from ${operationsAs('factory')}
          limit ${THROTTLED_OPERATIONS}) as some_of_them)
        else ${countAs('factory')} end as as_factory
    from (
      select ${chainId}::bigint as chain_id, n.entry_point, n.address,
        coalesce(r.ops_seen, 0) as ops_seen, coalesce(r.ops_included, 0) as ops_included,
        exists (select 1 from tanks t where t.chain_id = ${chainId}
          and t.entry_point = n.entry_point and t.address = n.address) as trusted
      from (select distinct * from unnest(${entryPoints}::text[], ${addresses}::text[])
        as entity(entry_point, address)) as n
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
type ReputationChanges = {
  /** Taken into the pool. */
  readonly seen?: readonly Hex[]
  /** Left the pool through no fault of their entities: as if never seen. */
  readonly unseen?: readonly Hex[]
  readonly included?: readonly Hex[]
  /** Inclusion was undone by a reorg. */
  readonly excluded?: readonly Hex[]
  /** Seen once more, as blame for an operation that failed. */
  readonly blamed?: readonly EntityName[]
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

/** Stores the counters of an entity that has none, and makes the `change` to those of one that has. */
async function putReputation(
  db: Database,
  chainId: number,
  { entryPoint, address }: EntityName,
  { seen, included }: { readonly seen: number; readonly included: number },
  change: RawBuilder<unknown>,
): Promise<void> {
  await sql`
    insert into reputations as r (chain_id, entry_point, address, ops_seen, ops_included)
    values (${chainId}, ${entryPoint}, ${address}, ${seen}, ${included})
    on conflict (chain_id, entry_point, address) do update set ${change}`.execute(db)
}

/** BAN_OPS_SEEN_PENALTY */
const CRASH_PENALTY = 10_000

/** GREP-040: bans an entity that made a bundle fail although its operation had been valid. */
export async function banEntity(db: Database, chainId: number, entity: EntityName): Promise<void> {
  const change = sql`ops_seen = r.ops_seen + ${CRASH_PENALTY}, ops_included = 0`
  await putReputation(db, chainId, entity, { seen: CRASH_PENALTY, included: 0 }, change)
}

/** Inclusions that a throttled entity is put behind: half-way between THROTTLING_SLACK and BAN_SLACK. */
const THROTTLED_BEHIND = 30
/** MIN_INCLUSION_RATE_DENOMINATOR */
const INCLUSION_RATE = 10

/** EREP-070: throttles an entity until it has had 20 more inclusions, or hours of decay have freed it. */
export async function throttleEntity(
  db: Database,
  chainId: number,
  entity: EntityName,
): Promise<void> {
  const seen = INCLUSION_RATE * THROTTLED_BEHIND
  const change = sql`ops_seen =
    greatest(r.ops_seen, ${INCLUSION_RATE} * (r.ops_included + ${THROTTLED_BEHIND}))`
  await putReputation(db, chainId, entity, { seen, included: 0 }, change)
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
      ${countAs('sender')} + ${countAs('paymaster')} + ${countAs('factory')} as pending
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

function isBehind(chainId: number) {
  return sql`chain_id = ${chainId} and hour < floor(extract(epoch from now()) / 3600)`
}

/** Is there a counter that `decayReputations` lowers? */
export function reputationsLag(chainId: number) {
  return sql<boolean>`exists (select from reputations where ${isBehind(chainId)})`
}

/**
 * Takes a 24th from every counter for each hour that has passed by the database's clock since the
 * last call, in whatever process that was; entities whose counters are 0 are forgotten.
 */
export async function decayReputations(db: Database, chainId: number): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from reputations
      where ${isBehind(chainId)} limit 1`.execute(db)
    if (rows.length === 0) return
    await sql`update reputations set hour = hour + 1,
        ops_seen = ops_seen * 23 / 24, ops_included = ops_included * 23 / 24
      where ${isBehind(chainId)}`.execute(db)
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
  const change = sql`ops_seen = excluded.ops_seen, ops_included = excluded.ops_included`
  for (const { address, opsSeen, opsIncluded } of entities) {
    const counters = { seen: opsSeen, included: opsIncluded }
    await putReputation(db, chainId, { entryPoint, address }, counters, change)
  }
}

/** Forgets all reputations of a chain. */
export async function clearReputations(db: Database, chainId: number): Promise<void> {
  await db.deleteFrom('reputations').where('chain_id', '=', BigInt(chainId)).execute()
}

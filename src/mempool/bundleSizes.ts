import { sql } from 'kysely'
import type { Address } from 'viem'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Head } from '../chain/head.js'
import type { Database } from '../db/database.js'

/** Numbers of operations that share the fixed costs of a bundle, each at least 1. */
type BundleSizes = {
  /** The one for which estimates are made now. */
  readonly current: number
  /** The fewest and the most for which an estimate of the last minutes may have been made. */
  readonly fewest: number
  readonly most: number
}

/** The sizes of bundle for which a chain's operations are priced. */
export type ExpectedSizes = {
  /** As they were at most a second ago. */
  of(entryPoint: Address): Promise<BundleSizes>
  /** As they are now. */
  newest(entryPoint: Address): Promise<BundleSizes>
}

/** Milliseconds for which sizes that were read are used again. */
const KEPT_FOR = 1_000

/**
 * The configured size, or with `auto` those that the chain's bundler has stored: every process reads the same ones,
 * so an operation that was estimated by one is admitted by another. 1 where no bundler stored any.
 */
export function createBundleSizes(
  database: Database,
  { chainId, expectedBundleSize }: Pick<ChainDefinition, 'chainId' | 'expectedBundleSize'>,
): ExpectedSizes {
  if (expectedBundleSize !== 'auto') {
    const sizes = fixedSize(expectedBundleSize)
    return { of: async () => sizes, newest: async () => sizes }
  }
  let kept: { until: number; sizes: ReturnType<typeof readSizes> } | undefined
  const readNow = (): ReturnType<typeof readSizes> => {
    const sizes = readSizes(database, chainId)
    kept = { until: performance.now() + KEPT_FOR, sizes }
    sizes.catch(() => {
      if (kept?.sizes === sizes) kept = undefined
    })
    return sizes
  }
  return {
    of: async (entryPoint) => {
      const known = kept && kept.until > performance.now() ? kept.sizes : readNow()
      return (await known).get(entryPoint) ?? fixedSize(1)
    },
    newest: async (entryPoint) => (await readNow()).get(entryPoint) ?? fixedSize(1),
  }
}

function fixedSize(size: number): BundleSizes {
  return { current: size, fewest: size, most: size }
}

/** Seconds for which a stored size holds: the bundler repeats it while it does. */
const HOLDS_FOR = 20
/** Seconds from an estimate to the operation that was made with it, at most. */
const ESTIMATE_LIFE = 300
/** Seconds after which a size is of no use to anybody. */
const FORGOTTEN_AFTER = 3_600

/** Stores the size for which estimates are made from now on. */
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

/** The sizes of a chain by EntryPoint, by the database's clock, which all processes share. */
async function readSizes(
  db: Database,
  chainId: number,
): Promise<ReadonlyMap<Address, BundleSizes>> {
  const { rows } = await sql<{ entryPoint: Address; current: number | null; most: number }>`
    select entry_point as "entryPoint", max(size) as most,
      case when max(decided_at) > now() - make_interval(secs => ${HOLDS_FOR})
        then (array_agg(size order by decided_at desc))[1] end as current
    from bundle_sizes
    where chain_id = ${chainId}
      and decided_at > now() - make_interval(secs => ${HOLDS_FOR + ESTIMATE_LIFE})
    group by entry_point`.execute(db)
  return new Map(
    rows.map(({ entryPoint, current, most }) => [
      entryPoint,
      { current: current ?? 1, fewest: 1, most },
    ]),
  )
}

/** The bundler's memory of its traffic, from which the expected size of bundles follows. */
export type SizeWatch = ReturnType<typeof createSizeWatch>

type WatchContext = {
  readonly database: Database
  readonly definition: Pick<ChainDefinition, 'chainId' | 'maxBundleWait'>
  /** The time in Unix milliseconds. */
  readonly now: () => number
}

/** Milliseconds between two looks. A size above 1 is stored at each, since it holds for 20 s. */
const STORE_EVERY = 5_000

/** Makes a watch that knows nothing yet: a new bundler stores no size above 1 until it has seen traffic for some minutes. */
export function createSizeWatch({ database, definition, now }: WatchContext) {
  const { chainId, maxBundleWait } = definition
  const since = now()
  const arrivals = new Map<Address, number[]>()
  const stored = new Map<Address, number>()
  let heads: Pick<Head, 'number' | 'timestamp'>[] = []
  let storedAt = Number.NEGATIVE_INFINITY

  return {
    /** Notes when operations came that go in a bundle. */
    note(entryPoint: Address, receivedAt: readonly Date[]): void {
      const known = arrivals.get(entryPoint) ?? []
      known.push(...receivedAt.map((date) => date.getTime()))
      arrivals.set(entryPoint, known)
    },
    /** Stores the sizes of now, for all processes; does nothing when it did so a moment ago. */
    async store(head: Head): Promise<void> {
      const time = now()
      if (time - storedAt < STORE_EVERY) return
      storedAt = time
      const oldest = (time - TRAFFIC_WINDOW) / 1_000
      heads = [...heads.filter(({ timestamp }) => timestamp > oldest), head]
      const blockTime = blockTimeOf(heads)
      for (const [entryPoint, times] of arrivals) {
        const recent = times.filter((at) => at > time - TRAFFIC_WINDOW)
        arrivals.set(entryPoint, recent)
        const size = reachedSize({ arrivals: recent, since, blockTime }, time, maxBundleWait)
        if (size > 1 || (stored.get(entryPoint) ?? 1) > 1)
          await putBundleSize(database, chainId, entryPoint, size)
        stored.set(entryPoint, size)
      }
    },
  }
}

/** Milliseconds between blocks on average; 0 while only one is known. */
function blockTimeOf(heads: readonly Pick<Head, 'number' | 'timestamp'>[]): number {
  const [first] = heads
  const last = heads.at(-1)
  if (first === undefined || last === undefined || last.number <= first.number) return 0
  return ((last.timestamp - first.timestamp) * 1_000) / Number(last.number - first.number)
}

/** The operations that came to one EntryPoint recently; times in milliseconds. */
type Traffic = {
  /** The times at which they came, in any order. */
  readonly arrivals: readonly number[]
  /** The time since which arrivals were noted. */
  readonly since: number
  /** The time between two blocks of the chain. */
  readonly blockTime: number
}

/** Milliseconds of traffic that count. */
export const TRAFFIC_WINDOW = 600_000
/** Milliseconds of traffic without which nothing is known: a burst is no habit. */
const LEAST_KNOWN = 300_000
/** Milliseconds in which it shows that traffic falls. */
const RECENT = 30_000
/** The part of all turns in which fewer operations may have come: with 5 %, nearly all reached the size. */
const FEWER = 0.05
/** The part of the recent average that counts, so that a size falls before bundles miss it. */
const RECENT_PART = 0.5
/** Bundlers send at most so often, however fast the chain's blocks are. */
const SHORTEST_TURN = 250
/** Operations: 10 leave a tenth of the fixed gas; more gain little, and more would be left over when traffic ends. */
export const LARGEST_SIZE = 10

/**
 * The size of bundle that nearly all operations recently could have shared without waiting: in 95 % of the turns
 * of the last ten minutes at least as many came. A turn is a block, at most half of `maxBundleWait` (ms). No more
 * than half of what the last 30 seconds brought on average, so it falls with the traffic, to 1; it is 1 also until
 * five minutes are known.
 */
export function reachedSize(
  { arrivals, since, blockTime }: Traffic,
  now: number,
  maxBundleWait: number,
): number {
  const turn = Math.min(Math.max(blockTime, SHORTEST_TURN), maxBundleWait / 2)
  const known = Math.min(now - since, TRAFFIC_WINDOW)
  if (turn < SHORTEST_TURN || known < LEAST_KNOWN) return 1
  const counts = new Array<number>(Math.floor(known / turn)).fill(0)
  let recent = 0
  for (const at of arrivals) {
    const ago = now - at
    if (ago < 0) continue
    if (ago < RECENT) recent += 1
    const place = Math.floor(ago / turn)
    const count = counts[place]
    if (count !== undefined) counts[place] = count + 1
  }
  counts.sort((one, other) => one - other)
  const usual = counts[Math.floor(counts.length * FEWER)] ?? 0
  const recently = Math.floor(((recent * turn) / RECENT) * RECENT_PART)
  return Math.max(1, Math.min(usual, recently, LARGEST_SIZE))
}

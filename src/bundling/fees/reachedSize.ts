/** The operations that came to one EntryPoint lately; times in milliseconds. */
export type Traffic = {
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
/** The part of all times in which fewer operations may have come: with 5 %, `nearly all` reached the size. */
const FEWER = 0.05
/** The part of the recent average that counts, so that a size falls before bundles miss it. */
const RECENT_PART = 0.5
/** Bundlers send at most so often, however fast the chain's blocks are. */
const SHORTEST_TURN = 250
/** Operations: 10 leave a tenth of the fixed gas; more gain little, and more would be left over when traffic ends. */
export const LARGEST_SIZE = 10

/**
 * The size of bundle that nearly all operations lately could have shared without waiting: in 95 % of the turns
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
  const lately = Math.floor(((recent * turn) / RECENT) * RECENT_PART)
  return Math.max(1, Math.min(usual, lately, LARGEST_SIZE))
}

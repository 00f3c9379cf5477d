import { Lru } from '../../base/lru.js'

export type Rate = {
  /** Units that come back each second; 0 = no limit. */
  readonly perSecond: number
  /** Units that a full bucket holds. */
  readonly burst: number
}

type Bucket = { readonly units: number; readonly at: number }

/**
 * A bucket per name, in this process only. The bucket used longest ago is forgotten when there are
 * more than `most`, which fills it up. A cost above the burst empties a full bucket.
 */
export function createTokenBuckets({ perSecond, burst }: Rate, most = 50_000) {
  const buckets = new Lru<string, Bucket>(most)

  const unitsAt = (name: string, now: number): number => {
    const bucket = buckets.get(name)
    if (bucket === undefined) return burst
    // A clock that was set back gives nothing and takes nothing.
    const elapsed = Math.max(0, now - bucket.at) / 1_000
    return Math.min(burst, bucket.units + elapsed * perSecond)
  }

  return {
    /** Takes `cost` units of the name's bucket, or nothing: then the seconds until they are there. */
    take(name: string, cost: number, now = performance.now()): number {
      if (perSecond === 0) return 0
      const wanted = Math.min(cost, burst)
      const units = unitsAt(name, now)
      if (units < wanted) return (wanted - units) / perSecond
      buckets.set(name, { units: units - wanted, at: now })
      return 0
    },
    /** Takes `cost` units, whether or not they are there: what lacks must come back before more is taken. */
    charge(name: string, cost: number, now = performance.now()): void {
      if (perSecond === 0) return
      buckets.set(name, { units: unitsAt(name, now) - cost, at: now })
    },
    /** The seconds until one unit is there; 0 = now. */
    wait(name: string, now = performance.now()): number {
      if (perSecond === 0) return 0
      return Math.max(0, 1 - unitsAt(name, now)) / perSecond
    },
  }
}

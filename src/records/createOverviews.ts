import { Lru } from '../base/lru.js'
import type { Database } from '../store/database.js'
import { type Overview, type OverviewQuery, readOverview } from '../store/records/overview.js'

/** Overviews, each remembered for a while: a wall of screens asks the database once. */
export type Overviews = (query: OverviewQuery) => Promise<Overview>

/** Milliseconds. */
const LIFE = 10_000
const MOST_REMEMBERED = 500

export function createOverviews(database: Database): Overviews {
  const known = new Lru<string, { readonly until: number; readonly overview: Promise<Overview> }>(
    MOST_REMEMBERED,
  )
  return (query) => {
    const name = JSON.stringify(query)
    const remembered = known.get(name)
    if (remembered !== undefined && remembered.until > Date.now()) return remembered.overview
    const overview = readOverview(database, query)
    known.set(name, { until: Date.now() + LIFE, overview })
    // A failed query is no answer and must not be remembered as one.
    overview.catch(() => known.set(name, { until: 0, overview }))
    return overview
  }
}

import { sql } from 'kysely'
import type { Logger } from 'pino'
import { z } from 'zod'
import { RateLimitError } from '../base/errors/limitErrors.js'
import type { Database } from '../db/database.js'
import type { Row } from '../tenants/schemas.js'
import { listedOperation } from './operations.js'

/** The state of an operation that changed; a client replaces what it has of the same hash. */
const changedState = listedOperation.pick({ chainId: true, userOpHash: true, state: true })

/** The operations of an app that changed. */
export const feedChanges = z.object({
  items: z.array(changedState),
  /** More may have changed than `items` has: the client should read the list again. */
  more: z.boolean(),
})

/** A listener of one app; `end` is called when nothing more will come. */
type FeedListener = {
  /** `at`: milliseconds since 1970, by which a client resumes. */
  readonly send: (changes: Row<typeof feedChanges>, at: number) => void
  readonly end: () => void
}

type WatchQuery = {
  readonly accountId: string
  readonly appId: string
  /** The id of the last message that the listener has; undefined = from now on. */
  readonly since: number | undefined
}

/** Feeds of changes, while somebody watches. */
export type Feeds = {
  /** Returns the function that ends the watch. Throws RateLimitError where too many watch already. */
  watch(query: WatchQuery, listener: FeedListener): () => void
  /** Ends every watch; from now on a watch ends at once. */
  stop(): Promise<void>
}

/** Milliseconds between two looks at an app: one message a second at most. */
const INTERVAL = 1_000
/** Operations of an app that are watched: the newest. */
const MOST_WATCHED = 200
/** Milliseconds that the time of a change may be older than its commit, with the clocks of two machines. */
const LONGEST_COMMIT = 5_000
/** Listeners in this process, and those of one account. */
const MOST_LISTENERS = 500
export const MOST_OF_ACCOUNT = 20
/** Looks at the same time, so that feeds never hold the connections that requests need. */
const LANES = 2

type Feed = {
  /** By listener, the time since which changes were not sent to it; undefined = it is up to date. */
  readonly listeners: Map<FeedListener, number | undefined>
  /** States that were sent last, by chain and hash; undefined before the first look. */
  known: ReadonlyMap<string, OperationStanding['state']> | undefined
  timer: NodeJS.Timeout | undefined
}

/**
 * Feeds by polling: while an app is watched, one timer for all its listeners asks once a second for the
 * newest operations by an index. Nothing is notified by those who write, and nothing is asked when nobody
 * watches.
 */
export function createFeeds(database: Database, logger: Logger): Feeds {
  const feeds = new Map<string, Feed>()
  const perAccount = new Map<string, number>()
  const lanes: Promise<void>[] = Array.from({ length: LANES }, () => Promise.resolve())
  let turn = 0
  let watching = 0
  let stopped = false

  async function look(appId: string, feed: Feed): Promise<void> {
    if (feeds.get(appId) !== feed) return
    try {
      const now = Date.now()
      publish(feed, await newestStates(database, appId, MOST_WATCHED), now)
    } catch (err) {
      logger.warn({ err, appId }, 'a feed could not be read')
    }
    if (feeds.get(appId) === feed) schedule(appId, feed)
  }

  /** One look of an app after the other, so a slow database is not asked twice. */
  function schedule(appId: string, feed: Feed): void {
    feed.timer = setTimeout(() => {
      const lane = turn++ % LANES
      lanes[lane] = (lanes[lane] ?? Promise.resolve()).then(() => look(appId, feed))
    }, INTERVAL)
  }

  function leave({ accountId, appId }: WatchQuery, listener: FeedListener): void {
    const feed = feeds.get(appId)
    if (feed === undefined || !feed.listeners.delete(listener)) return
    watching -= 1
    const left = (perAccount.get(accountId) ?? 1) - 1
    if (left === 0) perAccount.delete(accountId)
    else perAccount.set(accountId, left)
    if (feed.listeners.size > 0) return
    clearTimeout(feed.timer)
    feeds.delete(appId)
  }

  return {
    watch(query, listener) {
      if (stopped) {
        listener.end()
        return () => {}
      }
      const { accountId, appId, since } = query
      const ofAccount = perAccount.get(accountId) ?? 0
      if (watching >= MOST_LISTENERS || ofAccount >= MOST_OF_ACCOUNT)
        throw new RateLimitError('streams', INTERVAL / 1_000)
      const feed = feeds.get(appId) ?? { listeners: new Map(), known: undefined, timer: undefined }
      feed.listeners.set(listener, since ?? Date.now())
      watching += 1
      perAccount.set(accountId, ofAccount + 1)
      if (!feeds.has(appId)) {
        feeds.set(appId, feed)
        schedule(appId, feed)
      }
      return () => leave(query, listener)
    },
    async stop() {
      stopped = true
      const ended = [...feeds.values()]
      feeds.clear()
      for (const { listeners, timer } of ended) {
        clearTimeout(timer)
        for (const listener of listeners.keys()) listener.end()
      }
      await Promise.all(lanes)
    },
  }
}

/** Sends each listener what changed since the previous poll, and a new one what changed since its last message. */
function publish(feed: Feed, standings: readonly OperationStanding[], now: number): void {
  const before = feed.known
  const states = new Map(standings.map((each) => [nameOf(each), each.state]))
  feed.known = states
  // Those that were still to change.
  const isLost = [...(before ?? [])].some(
    ([name, state]) => (state === 'pooled' || state === 'bundled') && !states.has(name),
  )
  const isChanged = (each: OperationStanding) => before?.get(nameOf(each)) !== each.state
  for (const [listener, since] of feed.listeners) {
    const isMissed = ({ updatedAt }: OperationStanding) =>
      since !== undefined && updatedAt >= since - LONGEST_COMMIT
    const items = standings.filter(since === undefined ? isChanged : isMissed)
    const more = items.length === MOST_WATCHED || isLost
    feed.listeners.set(listener, undefined)
    if (items.length === 0 && !more) continue
    listener.send({ items: items.map(({ updatedAt: _, ...item }) => item), more }, now)
  }
}

function nameOf({ chainId, userOpHash }: OperationStanding): string {
  return `${chainId}:${userOpHash}`
}

/** With the time of its change, in milliseconds since 1970. */
type OperationStanding = Row<typeof changedState> & { readonly updatedAt: number }

/** The states of the newest operations of an app, the newest first: one short walk of an index. */
export async function newestStates(
  db: Database,
  appId: string,
  limit: number,
): Promise<readonly OperationStanding[]> {
  const { rows } =
    await sql<OperationStanding>`select chain_id::float8 as "chainId", hash as "userOpHash", state,
      (extract(epoch from updated_at) * 1000)::float8 as "updatedAt"
    from operations where app_id = ${appId}
    order by received_at desc, hash desc limit ${limit}`.execute(db)
  return rows
}

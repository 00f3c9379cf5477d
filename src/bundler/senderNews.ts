import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../db/database.js'
import type { OperationNews, OperationProgress } from './operationNews.js'
import { repeat } from './repeat.js'
import type { ViewContext } from './operationViews.js'

/** Whose operations are watched: one app's of one sender. */
type SenderQuery = { readonly appId: string; readonly sender: Address }

type SenderListener = {
  readonly report: (hash: Hex, progress: OperationProgress) => void
  readonly end: () => void
}

export type SenderNews = ReturnType<typeof createSenderNews>

type Watch = SenderQuery & {
  readonly listener: SenderListener
  /** By hash, the end of following an operation that has not ended. */
  readonly followed: Map<Hex, () => void>
}

type Found = SenderQuery & { readonly hash: Hex }

/** Milliseconds between two looks for operations that were accepted. */
const LOOK = 1_000

/** News of operations by their sender: the accepted ones are looked for each second, the ended ones are announced. */
export function createSenderNews(
  { database, definition: { chainId }, entryPoints, logger }: ViewContext,
  follow: OperationNews['follow'],
) {
  const watches = new Map<string, Set<Watch>>()
  let stopLooking: (() => void) | undefined
  let stopped = false

  function senders(): Address[] {
    return [
      ...new Set([...watches.values()].flatMap((set) => [...set].map(({ sender }) => sender))),
    ]
  }

  function begin(found: readonly Found[]): void {
    for (const { hash, ...query } of found)
      for (const watch of watches.get(nameOf(query)) ?? []) {
        if (watch.followed.has(hash)) continue
        const { report, end } = watch.listener
        const leave = follow(hash, 'included', {
          report: (progress) => {
            if (progress.isDone) watch.followed.delete(hash)
            report(hash, progress)
          },
          end,
        })
        watch.followed.set(hash, leave)
      }
  }

  async function look(): Promise<void> {
    const addresses = entryPoints.map(({ address }) => address)
    begin(await acceptedOf(database, chainId, addresses, senders()))
  }

  function leave(watch: Watch): void {
    const name = nameOf(watch)
    const ofName = watches.get(name)
    for (const stopFollowing of watch.followed.values()) stopFollowing()
    if (!ofName?.delete(watch) || ofName.size > 0) return
    watches.delete(name)
    if (watches.size > 0) return
    stopLooking?.()
    stopLooking = undefined
  }

  return {
    /** Follows each operation of the sender, from now on, until it is included or leaves the pool; the function ends it. */
    followSender(query: SenderQuery, listener: SenderListener): () => void {
      if (stopped) {
        queueMicrotask(listener.end)
        return () => {}
      }
      const watch: Watch = { ...query, listener, followed: new Map() }
      const name = nameOf(query)
      watches.set(name, (watches.get(name) ?? new Set()).add(watch))
      stopLooking ??= repeat(look, LOOK, logger)
      return () => leave(watch)
    },
    ended(hashes: readonly Hex[]): void {
      const watched = senders()
      if (watched.length === 0) return
      endedOf(database, chainId, hashes, watched).then(begin, (err) =>
        logger.warn({ err }, 'ended operations could not be read for subscriptions by sender'),
      )
    },
    stop(): void {
      stopped = true
      for (const watch of [...watches.values()].flatMap((set) => [...set])) {
        leave(watch)
        watch.listener.end()
      }
    },
  }
}

function nameOf({ appId, sender }: SenderQuery): string {
  return `${appId} ${sender}`
}

const columns = sql`hash, sender, app_id as "appId"`

/** The live operations of the senders, by their slots. */
async function acceptedOf(
  db: Database,
  chainId: number,
  entryPoints: readonly Address[],
  senders: readonly Address[],
): Promise<readonly Found[]> {
  const { rows } = await sql<Found>`select ${columns} from live_operations
    where chain_id = ${chainId} and entry_point = any(${entryPoints}::text[])
      and sender = any(${senders}::text[])`.execute(db)
  return rows
}

async function endedOf(
  db: Database,
  chainId: number,
  hashes: readonly Hex[],
  senders: readonly Address[],
): Promise<readonly Found[]> {
  const { rows } = await sql<Found>`select ${columns} from operations
    where chain_id = ${chainId} and hash = any(${hashes}::text[])
      and sender = any(${senders}::text[])`.execute(db)
  return rows
}

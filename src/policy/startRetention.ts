import type { Logger } from 'pino'
import type { Database } from '../store/database.js'
import { pruneCounters } from '../store/ledger/budgetCounters.js'
import { pruneDecisions } from '../store/ledger/decisions.js'
import { pruneGrants } from '../store/ledger/grants.js'
import { pruneApps, pruneKeys } from '../store/tenants/pruneRevoked.js'

type RetentionContext = {
  readonly database: Database
  readonly logger: Logger
  /** The days for which decisions, and keys and apps that ended, are kept. */
  readonly days: number
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
const BATCH = 1_000
/** The days for which counters are kept, twice the longest window. */
const COUNTER_DAYS = 62

/**
 * Deletes old decisions; grants, ended keys and apps of the same age; and counters that no window reaches.
 * @returns the number of deleted decisions
 */
export async function prune({ database, days }: RetentionContext, now: Date): Promise<number> {
  const before = new Date(now.getTime() - days * DAY)
  let deleted = 0
  for (let last = BATCH; last === BATCH; deleted += last)
    last = await pruneDecisions(database, before, BATCH)
  await pruneGrants(database, Math.floor(before.getTime() / 1000))
  await pruneCounters(database, Math.floor((now.getTime() - COUNTER_DAYS * DAY) / 1000))
  for (const pruneEnded of [pruneKeys, pruneApps])
    while ((await pruneEnded(database, before, BATCH)) === BATCH);
  return deleted
}

/** Prunes now and every hour. Several processes may do so at once: they skip each other's rows. */
export function startRetention(context: RetentionContext): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  const run = (): void => {
    running = prune(context, new Date()).then(
      (deleted) => {
        if (deleted > 0) context.logger.info({ deleted }, 'old decisions were deleted')
      },
      (err) => context.logger.warn({ err }, 'old decisions could not be deleted'),
    )
  }
  run()
  const timer = setInterval(run, HOUR)
  return {
    stop: () => {
      clearInterval(timer)
      return running
    },
  }
}

import type { Logger } from 'pino'
import type { Database } from '../store/database.js'
import { pruneCounters } from '../store/ledger/budgetCounters.js'
import { pruneDecisions } from '../store/ledger/decisions.js'
import { pruneGrants } from '../store/ledger/grants.js'
import { pruneInvitations } from '../store/people/invitations.js'
import { pruneSessions } from '../store/people/sessions.js'
import { pruneAttempts } from '../store/people/signInAttempts.js'
import {
  pruneBundles,
  pruneCircuits,
  pruneHistory,
  pruneInclusions,
  pruneOperations,
} from '../store/records/pruneOperations.js'
import { pruneRefusals } from '../store/records/refusals.js'
import { pruneAuthTokens } from '../store/tenants/authTokens.js'
import { pruneApps, pruneKeys } from '../store/tenants/pruneRevoked.js'
import { pruneQuotaWindows } from '../store/tenants/quotas.js'
import { pruneUsage } from '../store/tenants/usage.js'

type RetentionContext = {
  readonly database: Database
  readonly logger: Logger
  /** The days for which records are kept. */
  readonly days: {
    readonly decisions: number
    readonly refusals: number
    readonly operations: number
  }
}

const INTERVAL = 600_000
const DAY = 86_400_000
const BATCH = 1_000
/** The days for which counters are kept, twice the longest window. */
const COUNTER_DAYS = 62
/** The days for which the requests of keys are kept, today included. */
const USAGE_DAYS = 31
/** The refusals that are kept of one app. */
const REFUSALS_PER_APP = 10_000

/** The rows that were deleted, by table. */
export type Pruned = {
  readonly decisions: number
  readonly operations: number
  readonly inclusions: number
  readonly bundles: number
  readonly history: number
  readonly refusals: number
}

/**
 * Deletes old decisions; grants, ended keys and apps of the same age; operations that ended long ago, with
 * all that is kept of them, and bundles; old refusals and those beyond an app's share; sessions, invitations and
 * attempts to sign in that are past; and counters that no window reaches. Nothing goes while money is open.
 */
export async function prune({ database, days }: RetentionContext, now: Date): Promise<Pruned> {
  const daysAgo = (count: number) => new Date(now.getTime() - count * DAY)
  const before = daysAgo(days.decisions)
  const decisions = await inBatches(() => pruneDecisions(database, before, BATCH))
  await pruneGrants(database, Math.floor(before.getTime() / 1000))
  await pruneCounters(database, Math.floor(daysAgo(COUNTER_DAYS).getTime() / 1000))
  await pruneQuotaWindows(database, Math.floor(daysAgo(1).getTime() / 1000))
  await pruneUsage(database, daysAgo(USAGE_DAYS))
  const ended = daysAgo(days.operations)
  const operations = await inBatches(() => pruneOperations(database, ended, BATCH))
  const inclusions = await inBatches(() => pruneInclusions(database, ended, BATCH))
  const bundles = await inBatches(() => pruneBundles(database, ended, BATCH))
  const history = await inBatches(() => pruneHistory(database, ended, BATCH))
  await inBatches(() => pruneCircuits(database, before, BATCH))
  const refusals = await inBatches(() =>
    pruneRefusals(database, daysAgo(days.refusals), REFUSALS_PER_APP, BATCH),
  )
  for (const prunePast of [pruneSessions, pruneInvitations, pruneAttempts])
    await inBatches(() => prunePast(database, BATCH))
  for (const pruneEnded of [pruneKeys, pruneAuthTokens, pruneApps])
    await inBatches(() => pruneEnded(database, before, BATCH))
  return { decisions, operations, inclusions, bundles, history, refusals }
}

/** Deletes batch after batch until one is not full. Returns the number of all rows. */
async function inBatches(deleteSome: () => Promise<number>): Promise<number> {
  let deleted = 0
  for (let last = BATCH; last === BATCH; deleted += last) last = await deleteSome()
  return deleted
}

/** Prunes now and every ten minutes. Several processes may do so at once: they skip each other's rows. */
export function startRetention(context: RetentionContext): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()
  const run = (): void => {
    running = prune(context, new Date()).then(
      (deleted) => {
        if (Object.values(deleted).some((count) => count > 0))
          context.logger.info({ deleted }, 'old records were deleted')
      },
      (err) => context.logger.warn({ err }, 'old records could not be deleted'),
    )
  }
  run()
  const timer = setInterval(run, INTERVAL)
  return {
    stop: () => {
      clearInterval(timer)
      return running
    },
  }
}

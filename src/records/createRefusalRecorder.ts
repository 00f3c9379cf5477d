import type { Logger } from 'pino'
import { createWriteBehind } from '../base/createWriteBehind.js'
import type { Database } from '../store/database.js'
import { insertRefusals, type NewRefusal } from '../store/records/refusals.js'

export type RefusalRecorderContext = {
  readonly database: Database
  readonly logger: Logger
  /** Called with the number of refusals that are not stored. */
  readonly onLost: (count: number) => void
}

export type RefusalRecorder = {
  /** Stores the refusal soon, behind the answer. Never throws and never waits. */
  record(refusal: NewRefusal): void
  /** Stores what waits. */
  stop(): Promise<void>
}

/** Milliseconds for which refusals gather before they are stored together. */
const GATHER = 250
/** Refusals that wait at most; each holds at most some 20 kB. */
const MOST_WAITING = 500
/** Refusals of one app that are kept per second, over ten seconds; a caller can make any number. */
const PER_SECOND = 5
const WINDOW = 10_000
const PER_WINDOW = (PER_SECOND * WINDOW) / 1_000

/**
 * Stores refusals in batches, behind the answers. What one app makes beyond `PER_SECOND`, what a slow
 * database leaves no room for, and what cannot be stored is counted and lost: a record must never slow
 * down or stop what it records.
 */
export function createRefusalRecorder({
  database,
  logger,
  onLost,
}: RefusalRecorderContext): RefusalRecorder {
  let waiting: NewRefusal[] = []
  let windowStart = 0
  const inWindow = new Map<string, number>()

  function hasRoom(appId: string): boolean {
    const now = Date.now()
    if (now - windowStart >= WINDOW) {
      windowStart = now
      inWindow.clear()
    }
    const count = (inWindow.get(appId) ?? 0) + 1
    inWindow.set(appId, count)
    return count <= PER_WINDOW && waiting.length < MOST_WAITING
  }

  async function write(): Promise<void> {
    const batch = waiting
    waiting = []
    try {
      await insertRefusals(database, batch)
    } catch (error) {
      onLost(batch.length)
      logger.warn({ err: error, lost: batch.length }, 'refusals could not be recorded')
    }
  }

  const behind = createWriteBehind({ delay: GATHER, hasGathered: () => waiting.length > 0, write })
  return {
    record(refusal) {
      if (!hasRoom(refusal.app_id)) {
        onLost(1)
        return
      }
      waiting.push(refusal)
      behind.schedule()
    },
    stop: behind.stop,
  }
}

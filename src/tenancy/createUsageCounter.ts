import type { Logger } from 'pino'
import { createWriteBehind } from '../base/createWriteBehind.js'
import type { Database } from '../store/database.js'
import { addUsage, type Usage } from '../store/tenants/usage.js'

/** Milliseconds for which requests are counted here before they are stored. */
const GATHER = 1_000

/**
 * Counts the requests of keys. They are stored together, behind the answers: a process that is killed loses the
 * last second. While the database is away they gather, one number of a key.
 */
export function createUsageCounter(database: Database, logger: Logger) {
  let gathered = new Map<string, Usage>()
  function add(keyId: string, { requests, refused }: Usage): void {
    const known = gathered.get(keyId)
    gathered.set(keyId, {
      requests: requests + (known?.requests ?? 0),
      refused: refused + (known?.refused ?? 0),
    })
  }

  async function write(): Promise<void> {
    const batch = gathered
    gathered = new Map()
    try {
      await addUsage(database, batch)
    } catch (err) {
      for (const [keyId, usage] of batch) add(keyId, usage)
      logger.warn({ err }, 'the usage of keys could not be stored yet')
    }
  }

  const behind = createWriteBehind({ delay: GATHER, hasGathered: () => gathered.size > 0, write })
  return {
    /** Counts a request; neither throws nor waits. */
    countRequest(keyId: string, isRefused: boolean): void {
      add(keyId, { requests: 1, refused: isRefused ? 1 : 0 })
      behind.schedule()
    },
    /** Stores what was counted. */
    stop: behind.stop,
  }
}

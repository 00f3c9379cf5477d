import type { Logger } from 'pino'
import { createWriteBehind } from '../base/createWriteBehind.js'
import type { Database } from '../db/database.js'
import { putKeyUses } from '../tenants/keyOwner.js'

/** Milliseconds between two writes: one statement for all keys, whatever their traffic. */
const INTERVAL = 60_000
/** Keys that are remembered between two writes; beyond that a use is not written. */
const MOST_KEYS = 10_000

/** Writes once a minute which keys were used since; a request of a key writes nothing. */
export function createKeyUses(database: Database, logger: Logger) {
  let uses = new Map<string, Date>()

  async function write(): Promise<void> {
    const batch = uses
    uses = new Map()
    try {
      await putKeyUses(database, batch)
    } catch (err) {
      logger.warn({ err, keys: batch.size }, 'the last use of keys could not be written')
    }
  }

  const behind = createWriteBehind({ delay: INTERVAL, hasGathered: () => uses.size > 0, write })
  return {
    /** Never throws and never waits. */
    used(keyId: string): void {
      if (uses.size < MOST_KEYS || uses.has(keyId)) uses.set(keyId, new Date())
      behind.schedule()
    },
    /** Writes what was not written yet. */
    stop: behind.stop,
  }
}

import type { Logger } from 'pino'
import type { Database } from '../db/database.js'
import { putKeyUses } from '../tenants/keyOwner.js'

/** Memory of the keys that were used, written down from time to time. */
type KeyUses = {
  /** Never throws and never waits. */
  used(keyId: string): void
  /** Writes what was not written yet. */
  stop(): Promise<void>
}

/** Milliseconds between two writes: one statement for all keys, whatever their traffic. */
const INTERVAL = 60_000
/** Keys that are remembered between two writes; beyond that a use is not written. */
const MOST_KEYS = 10_000

/** Writes once a minute which keys were used since; a request of a key writes nothing. */
export function createKeyUses(database: Database, logger: Logger): KeyUses {
  let uses = new Map<string, Date>()
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const batch = uses
    uses = new Map()
    try {
      await putKeyUses(database, batch)
    } catch (err) {
      logger.warn({ err, keys: batch.size }, 'the last use of keys could not be written')
    }
  }

  const timer = setInterval(() => {
    writing = writing.then(write)
  }, INTERVAL)
  return {
    used(keyId) {
      if (uses.size < MOST_KEYS || uses.has(keyId)) uses.set(keyId, new Date())
    },
    stop() {
      clearInterval(timer)
      return writing.then(write)
    },
  }
}

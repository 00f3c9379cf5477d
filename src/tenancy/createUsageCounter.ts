import type { Logger } from 'pino'
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
  let writing: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

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

  /** One batch at a time; the next gathers meanwhile. A request that is cut at the end of the process counts no more. */
  function schedule(): void {
    if (isStopped || timer !== undefined || writing !== undefined || gathered.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      writing = write().finally(() => {
        writing = undefined
        schedule()
      })
    }, GATHER)
  }

  return {
    /** Counts a request; neither throws nor waits. */
    countRequest(keyId: string, isRefused: boolean): void {
      add(keyId, { requests: 1, refused: isRefused ? 1 : 0 })
      schedule()
    },
    /** Stores what was counted. */
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await writing
      await write()
    },
  }
}

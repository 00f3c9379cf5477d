import type { Logger } from 'pino'
import type { Database } from '../store/database.js'
import { announceOperations } from '../store/pool/operations.js'

/**
 * Tells the bundlers of a chain, in this and other processes, that operations wait. Called after
 * the commit: a NOTIFY inside each transaction makes PostgreSQL commit them one after the other, to
 * a fifth of the admissions a second. Admissions that come while a message is under way share the
 * next one. One that is lost costs the bundler's timer, not the operation.
 */
export function createAnnouncer(database: Database, chainId: number, logger: Logger): () => void {
  let wanted = false
  let running = false

  const run = async (): Promise<void> => {
    running = true
    while (wanted) {
      wanted = false
      try {
        await announceOperations(database, chainId)
      } catch (error) {
        logger.warn({ reason: (error as Error).message }, 'operations not announced')
      }
    }
    running = false
  }

  return () => {
    wanted = true
    if (!running) void run()
  }
}

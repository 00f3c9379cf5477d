import type { Logger } from 'pino'
import type { Database } from '../store/database.js'
import { announceOperations } from '../store/pool/operations.js'

/**
 * A function that notifies the bundlers of a chain, in this and other processes, that operations wait.
 * It is called after the commit: a NOTIFY inside each transaction makes PostgreSQL commit them one after
 * the other, which cuts the admissions a second to a fifth. Admissions that come while a message is under
 * way share the next one. After a lost message the bundler's timer finds the operation.
 */
export function createAnnouncer(database: Database, chainId: number, logger: Logger): () => void {
  let requested = false
  let running = false

  const run = async (): Promise<void> => {
    running = true
    while (requested) {
      requested = false
      try {
        await announceOperations(database, chainId)
      } catch (error) {
        logger.warn({ reason: (error as Error).message }, 'operations not announced')
      }
    }
    running = false
  }

  return () => {
    requested = true
    if (!running) void run()
  }
}

import type { Logger } from 'pino'
import type { Hex } from 'viem'
import type { Metrics } from '../metrics/createMetrics.js'
import type { Connection, Database } from '../store/database.js'
import { ENDED_CHANNEL } from '../store/events.js'
import { listen } from '../store/notifications.js'
import { type EndedOperation, readEnded } from '../store/records/endedOperations.js'

type EndsContext = {
  readonly connection: Connection
  readonly database: Database
  readonly logger: Logger
  /** Whether this process bundles for the chain: one process counts what all see. */
  readonly leads: (chainId: number) => boolean
  readonly onEnded: (chainId: number, operation: EndedOperation) => void
}

/**
 * Reports operations that were included or dropped, whichever process or command did it, once each: by the
 * process that bundles for their chain. Announcements are lost while the connection is: what ends then is
 * settled as ever, and not counted.
 */
export async function watchEnds(context: EndsContext): Promise<{ close(): Promise<void> }> {
  const { connection, database, logger, leads, onEnded } = context
  let reading: Promise<void> = Promise.resolve()

  const read = async (chainId: number, hashes: readonly Hex[]): Promise<void> => {
    try {
      for (const operation of await readEnded(database, chainId, hashes))
        onEnded(chainId, operation)
    } catch (error) {
      const { message } = error as Error
      logger.warn({ chainId, ops: hashes, reason: message }, 'ends of operations are not counted')
    }
  }

  const listener = await listen(connection, ENDED_CHANNEL, logger, (tiding) => {
    const [chain = '', ...hashes] = tiding.split(' ')
    const chainId = Number(chain)
    // One at a time: a burst of announcements must not take the connections from requests.
    if (leads(chainId)) reading = reading.then(() => read(chainId, hashes as Hex[]))
  })
  return {
    close: async () => {
      await listener.close()
      await reading
    },
  }
}

/** Counts the end of an operation, and what it cost its sponsor. */
export function countEnd(metrics: Metrics, chainId: number, operation: EndedOperation): void {
  const { outcome, receivedAt, endedAt, mode, cost } = operation
  metrics.operationEnded(chainId, outcome, (endedAt.getTime() - receivedAt.getTime()) / 1_000)
  const isIncluded = outcome === 'included' || outcome === 'failed'
  if (isIncluded && mode !== null && cost !== null) metrics.spent(chainId, mode, cost)
}

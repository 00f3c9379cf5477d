import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { type Connection, clientConfig } from './database.js'

const RECONNECT_AFTER = 500

/**
 * Hears what other sessions announce with NOTIFY. A lost connection is made anew; what was
 * announced meanwhile is missed, so listeners also look by themselves from time to time.
 */
export const listen = async (
  connection: Connection,
  channel: string,
  logger: Logger,
  hear: (payload: string) => void,
): Promise<{ close(): Promise<void> }> => {
  let closed = false
  let client: pg.Client | undefined

  const connect = async (): Promise<void> => {
    const next = new pg.Client(clientConfig(connection))
    next.on('notification', ({ payload }) => hear(payload ?? ''))
    next.on('error', (error) => logger.warn({ reason: error.message }, 'listener lost'))
    next.on('end', () => {
      if (!closed) void reconnect()
    })
    await next.connect()
    await next.query(`listen ${pg.escapeIdentifier(channel)}`)
    client = next
  }

  const reconnect = async (): Promise<void> => {
    while (!closed) {
      await delay(RECONNECT_AFTER, undefined, { ref: false })
      try {
        if (!closed) await connect()
        return
      } catch (error) {
        logger.warn({ reason: (error as Error).message }, 'listener not connected')
      }
    }
  }

  await connect()
  return {
    close: async () => {
      closed = true
      await client?.end()
    },
  }
}

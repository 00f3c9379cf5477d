import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { createStateLog } from '../base/stateLog.js'
import { type Connection, clientConfig } from './database.js'

const RECONNECT_AFTER = 500

type Listener = { readonly client: pg.Client; readonly ended: Promise<void> }

/**
 * Listens to announcements (NOTIFY) of other sessions. A lost connection is made anew; announcements
 * in between are missed, so listeners must also look by themselves from time to time.
 */
export async function listen(
  connection: Connection,
  channel: string,
  logger: Logger,
  hear: (payload: string) => void,
): Promise<{ close(): Promise<void> }> {
  const closing = new AbortController()

  const state = createStateLog(logger, 'listener lost', 'listener connected again')
  const open = async (): Promise<Listener> => {
    const client = new pg.Client({
      ...clientConfig(connection),
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
    })
    const sessionEnd = new Promise<void>((resolve) => client.once('end', () => resolve()))
    client.on('notification', ({ payload }) => hear(payload ?? ''))
    client.on('error', (error) => state.away({ channel, reason: error.message }))
    try {
      await client.connect()
      await client.query(`listen ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      await client.end()
      throw error
    }
    return { client, ended: sessionEnd }
  }

  let listener = await open()
  const keepListening = async (): Promise<void> => {
    for (;;) {
      await listener.ended
      await delay(RECONNECT_AFTER, undefined, { signal: closing.signal }).catch(() => {})
      if (closing.signal.aborted) return
      try {
        listener = await open()
        state.back()
        if (closing.signal.aborted) await listener.client.end()
      } catch (error) {
        state.away({ channel, reason: (error as Error).message })
      }
    }
  }
  const listening = keepListening()

  return {
    close: async () => {
      closing.abort()
      await listener.client.end()
      await listening
    },
  }
}

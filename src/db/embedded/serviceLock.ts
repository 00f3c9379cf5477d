import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Logger } from 'pino'
import { type Connection, clientConfig } from '../database.js'

/** Key of the advisory lock; spells "purser". */
const LOCK = 0x707572736572n

/** Milliseconds between attempts to get the right back, and how many refusals mean that it is gone. */
const RETRY_AFTER = 500
const REFUSALS = 20

export type ServiceLock = {
  readonly release: () => Promise<void>
  /** Settles when another process has the right instead of us; never after a release. */
  readonly lost: Promise<void>
}

type HeldLock = {
  readonly client: pg.Client
  /** Settles when the session ended, and with it the right. */
  readonly ended: Promise<void>
}

async function acquire(connection: Connection): Promise<HeldLock | undefined> {
  const client = new pg.Client({
    ...clientConfig(connection),
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
  })
  const sessionEnd = new Promise<void>((resolve) => client.once('end', () => resolve()))
  // Without a listener a broken session would end the process; `ended` reports it.
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [LOCK])
  if (rows[0]?.held === true) return { client, ended: sessionEnd }
  await client.end()
  return undefined
}

/**
 * The right to run the service on this database; undefined when another process has it. It is held
 * by a session of its own, so that it ends with the process whatever happens. When that session
 * breaks (a restart of the database, a cut connection) the right is taken again, unless another
 * process was quicker: then it is `lost`. The session of a cut connection may live on at the server
 * for a moment, so only repeated refusals count.
 * @throws Error when the database cannot be reached at first
 */
export async function holdServiceLock(
  connection: Connection,
  logger: Logger,
): Promise<ServiceLock | undefined> {
  const releasing = new AbortController()
  const { signal } = releasing
  const first = await acquire(connection)
  if (first === undefined) return undefined
  let heldLock = first

  const regain = async (): Promise<HeldLock | undefined> => {
    for (let refusals = 0; refusals < REFUSALS && !signal.aborted; ) {
      try {
        const again = await acquire(connection)
        if (again !== undefined) return again
        refusals += 1
      } catch (error) {
        logger.warn({ reason: (error as Error).message }, 'service lock not recovered yet')
      }
      await delay(RETRY_AFTER, undefined, { signal }).catch(() => {})
    }
    return undefined
  }

  /** Whether another process has the right in the end. */
  const keep = async (): Promise<boolean> => {
    for (;;) {
      await heldLock.ended
      if (signal.aborted) return false
      logger.warn('the session of the service lock was lost')
      const again = await regain()
      if (again === undefined) return !signal.aborted
      heldLock = again
      if (signal.aborted) await heldLock.client.end()
      else logger.info('service lock recovered')
    }
  }
  const keeping = keep()

  return {
    lost: new Promise((resolve) => {
      keeping.then((isLost) => isLost && resolve())
    }),
    release: async () => {
      releasing.abort()
      await heldLock.client.end()
      await keeping
    },
  }
}

import pg from 'pg'
import { type Connection, clientConfig } from './database.js'

/** Any number that nobody else uses on this database; spells "purser". */
const LOCK = 0x707572736572n

export type ServiceLock = {
  readonly release: () => Promise<void>
  /** Settles when the session broke, and with it the right; never after a release. */
  readonly lost: Promise<void>
}

/**
 * The right to run the service on this database, held by a session of its own, so that it ends with
 * the process whatever happens. undefined when another process has it.
 */
export const acquireServiceLock = async (
  connection: Connection,
): Promise<ServiceLock | undefined> => {
  const client = new pg.Client({ ...clientConfig(connection), keepAlive: true })
  let released = false
  const lost = new Promise<void>((resolve) => {
    client.on('end', () => {
      if (!released) resolve()
    })
  })
  // Without a listener a broken session would end the process; `lost` tells of it.
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [LOCK])
  const release = () => {
    released = true
    return client.end()
  }
  if (rows[0]?.held === true) return { release, lost }
  await release()
  return undefined
}

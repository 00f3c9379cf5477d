import pg from 'pg'
import { type Connection, clientConfig } from './database.js'

/** Any number that nobody else uses on this database; spells "purser". */
const LOCK = 0x707572736572n

/**
 * The right to run the service on this database, held by a session of its own, so that it ends with
 * the process whatever happens. undefined when another process has it.
 */
export const acquireServiceLock = async (
  connection: Connection,
): Promise<{ release(): Promise<void> } | undefined> => {
  const client = new pg.Client(clientConfig(connection))
  // A lost session is noticed by the pool's queries; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query('select pg_try_advisory_lock($1) as held', [LOCK.toString()])
  if (rows[0]?.held === true) return { release: () => client.end() }
  await client.end()
  return undefined
}

import { sql } from 'kysely'
import pg from 'pg'
import { type Connection, clientConfig, type Database } from './database.js'

/** Does the database answer a query now? */
export async function isReachable(database: Database): Promise<boolean> {
  try {
    await sql`select 1`.execute(database)
    return true
  } catch {
    return false
  }
}

/** Milliseconds in which a server must take a connection. */
const PATIENCE = 5_000
/** Codes of a server that is not there yet, or that starts or ends. A name that nobody knows is a mistake. */
const awayCodes = /^(?:ECONN|ETIMEDOUT|EHOST|ENET|EPIPE|EAI_AGAIN|ENOENT|08|57P)/

/** Why the server takes no connection now, in its or the driver's words; undefined = it does, or refuses ours for good. */
export async function reasonAway(connection: Connection): Promise<string | undefined> {
  const client = new pg.Client({ ...clientConfig(connection), connectionTimeoutMillis: PATIENCE })
  client.on('error', () => {})
  try {
    await client.connect()
    return undefined
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    const isAway = code === undefined ? /time|terminated/.test(message) : awayCodes.test(code)
    return isAway ? message || code : undefined
  } finally {
    await client.end().catch(() => {})
  }
}

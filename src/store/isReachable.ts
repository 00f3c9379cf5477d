import { sql } from 'kysely'
import type { Database } from './database.js'

/** Does the database answer a query now? */
export async function isReachable(database: Database): Promise<boolean> {
  try {
    await sql`select 1`.execute(database)
    return true
  } catch {
    return false
  }
}

import { sql } from 'kysely'
import type { Database } from './database.js'

/** Does the database answer a query now? */
export const isReachable = async (database: Database): Promise<boolean> => {
  try {
    await sql`select 1`.execute(database)
    return true
  } catch {
    return false
  }
}

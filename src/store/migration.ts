import { type Migration, sql } from 'kysely'
import { faultPoint } from '../base/faults.js'

/** A step of the schema: statements that all take effect, in their order, or none of them does. */
export function migration(statements: readonly string[]): Migration {
  return {
    up: async (db) => {
      for (const statement of statements) await sql.raw(statement).execute(db)
      faultPoint('migration:applied')
    },
  }
}

import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { UnavailableError } from '../errors/requestErrors.js'
import { isStalePlan, openSession, type Query } from './openSession.js'

/**
 * SQLSTATEs by which the server says that it cannot serve now, whatever the statement: connection
 * trouble (08), a deadlock or conflict that a repetition solves (40), too many connections (53300),
 * shutdown, crash and start-up (57P), a timeout (25P03, 55P03, 57014).
 */
const passing = /^(?:08|40|53300|57P|25P03|55P03|57014)/

/** Thrown by our own code inside the driver, such as a value that cannot be decoded. */
function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError
}

function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return passing.test(error.code ?? '') || isStalePlan(error)
  // What the server did not say comes from the driver: the connection failed or broke.
  return error instanceof Error && !isOurs(error)
}

function tell<Result>(answer: Promise<Result>): Promise<Result> {
  return answer.catch((error) => {
    if (isTransient(error)) throw new UnavailableError('The database is not available.', error)
    throw error
  })
}

/**
 * The pool with trouble of the database itself told as an UnavailableError; nobody knows then
 * whether the statement took effect. What the server says about a statement stays as it is.
 */
export function tellUnavailable(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => {
      const client = await tell(pool.connect())
      const { query, release } = openSession(client)
      const telling: Query = (text, values) => tell(query(text, values))
      return { query: telling as unknown as PostgresPoolClient['query'], release }
    },
    end: () => pool.end(),
  }
}

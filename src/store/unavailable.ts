import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { UnavailableError } from '../errors/requestErrors.js'
import { isStalePlan, openSession, type Query } from './openSession.js'

/**
 * SQLSTATEs by which the server says that it cannot serve now, whatever the statement: connection
 * trouble (08), a deadlock or conflict that a repetition solves (40), too many connections (53300),
 * shutdown, crash and start-up (57P), a timeout (25P03, 55P03, 57014).
 */
const transientCodes = /^(?:08|40|53300|57P|25P03|55P03|57014)/

/** Is it an error of our own code inside the driver, such as a value that cannot be decoded? */
function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError
}

function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError)
    return transientCodes.test(error.code ?? '') || isStalePlan(error)
  // An error that the server did not send is the driver's: the connection failed or broke.
  return error instanceof Error && !isOurs(error)
}

/** Turns trouble of the database into an UnavailableError. */
function translateErrors<Result>(answer: Promise<Result>): Promise<Result> {
  return answer.catch((error) => {
    if (isTransient(error)) throw new UnavailableError('The database is not available.', error)
    throw error
  })
}

/**
 * The pool, with trouble of the database itself thrown as an UnavailableError; then it is not known
 * whether the statement took effect. The server's errors about a statement stay as they are.
 */
export function tellUnavailable(pool: pg.Pool): PostgresPool {
  return {
    connect: async () => {
      const client = await translateErrors(pool.connect())
      const { query, release } = openSession(client)
      const translated: Query = (text, values) => translateErrors(query(text, values))
      return { query: translated as unknown as PostgresPoolClient['query'], release }
    },
    end: () => pool.end(),
  }
}

import type { PostgresPool, PostgresPoolClient } from 'kysely'
import pg from 'pg'
import { UnavailableError } from '../base/errors/requestErrors.js'
import { isStalePlan, openSession, type Query } from './session/openSession.js'
import { createStatementNames } from './session/statementNames.js'
import { isStorageTrouble, type TroubleMemory } from './storageTrouble.js'

/**
 * SQLSTATEs by which the server says that it cannot serve now, whatever the statement: connection
 * trouble (08), a deadlock or conflict that a repetition solves (40), shutdown, crash and start-up (57P), a
 * timeout (25P03, 55P03, 57014). Storage trouble comes on top, see `isStorageTrouble`.
 */
const transientCodes = /^(?:08|40|57P|25P03|55P03|57014)/

/** Is it an error of our own code inside the driver, such as a value that cannot be decoded? */
function isOurs(error: unknown): boolean {
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError
}

function isTransient(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) {
    const { code = '' } = error
    return transientCodes.test(code) || isStorageTrouble(code) || isStalePlan(error)
  }
  // An error that the server did not send is the driver's: the connection failed or broke.
  return error instanceof Error && !isOurs(error)
}

/** Turns trouble of the database into an UnavailableError, and notes what the operator must do. */
function translateErrors<Result>(answer: Promise<Result>, memory: TroubleMemory): Promise<Result> {
  return answer.catch((error) => {
    if (error instanceof pg.DatabaseError) memory.note(error.code ?? '')
    if (isTransient(error)) throw new UnavailableError('The database is not available.', error)
    throw error
  })
}

/**
 * The pool, with trouble of the database itself thrown as an UnavailableError; then it is not known
 * whether the statement took effect. The server's errors about a statement stay as they are.
 */
export function tellUnavailable(pool: pg.Pool, memory: TroubleMemory): PostgresPool {
  const nameOf = createStatementNames()
  return {
    connect: async () => {
      const client = await translateErrors(pool.connect(), memory)
      memory.connected()
      const { query, release } = openSession(client, nameOf)
      const translated: Query = (text, values) => translateErrors(query(text, values), memory)
      return { query: translated as unknown as PostgresPoolClient['query'], release }
    },
    end: () => pool.end(),
  }
}

import { PurserError } from './purserError.js'

/**
 * Our EVM cannot say what becomes of an operation: it meets something that the EVM does not have, or
 * takes more work than one operation may. A node can still say it.
 */
export class CannotSimulateError extends PurserError {
  override readonly name = 'CannotSimulateError'
  constructor(reason: string) {
    super(`This operation cannot be simulated in-process: ${reason}.`, {
      code: -32500,
      status: 400,
    })
  }
}

import { PurserError } from './purserError.js'

/**
 * Our EVM cannot simulate an operation: the operation needs something that the EVM does not have,
 * or takes more work than one operation may. A node can still simulate it.
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

import { PurserError } from './purserError.js'
import { UnavailableError } from './requestErrors.js'

/**
 * Our EVM cannot simulate an operation: the operation needs something that the EVM does not have,
 * or takes more work than one operation may. A node can still simulate it.
 */
export class CannotSimulateError extends PurserError {
  constructor(reason: string) {
    super(`This operation cannot be simulated in-process: ${reason}.`, {
      code: -32500,
      rule: 'CANNOT_SIMULATE',
    })
  }
}

/**
 * An operation takes more steps or memory than one operation may. A node is not asked to simulate it
 * instead: it would take as much there.
 */
export class TooCostlyError extends CannotSimulateError {
  /** @param what it takes too much of: `steps`, `memory` */
  constructor(what: string) {
    super(`it uses more ${what} than an operation may`)
  }
}

/** The node refused the trace of an operation or aborted it, as where it takes too long; the operation itself is not judged. */
export class TraceRefusedError extends UnavailableError {
  constructor(cause: Error) {
    const what = "The chain's node refused or aborted the trace of this operation."
    super(what, cause, 'TRACE_REFUSED')
  }
}

/** The thread that simulated an operation ended before its time; the operation itself is not judged. */
export class SimulationLostError extends UnavailableError {
  constructor(cause?: unknown) {
    super('The simulation of this operation was aborted.', cause)
  }
}

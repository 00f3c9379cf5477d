/** Thrown to leave a run at once; caught only where runs begin. None of them reaches a caller. */

/** State was missing and the run is to stop at the first miss. */
export class StopAtMiss extends Error {
  override name = 'StopAtMiss'
}

/** The run needs something that this EVM does not have. */
export class Unsupported extends Error {
  override name = 'Unsupported'
}

/** The run is over its budget of steps or memory. */
export class Exhausted extends Error {
  override name = 'Exhausted'
}

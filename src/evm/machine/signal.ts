/**
 * The answer of an instruction to the interpreter. `CONTINUE`: next instruction. `ENTER`: a child frame
 * was pushed, run it. All others end the frame; from `REVERT` on, its changes are undone, and from
 * `OUT_OF_GAS` on, all its gas is gone too.
 */
export type Signal = number

export const CONTINUE = 0
export const ENTER = 1
export const RETURN = 2
export const REVERT = 3
export const OUT_OF_GAS = 4
export const INVALID_OPCODE = 5
export const STACK_UNDERFLOW = 6
export const STACK_OVERFLOW = 7
export const INVALID_JUMP = 8
export const STATIC_VIOLATION = 9
export const RETURN_DATA_BOUNDS = 10
export const COLLISION = 11
export const CODE_TOO_LARGE = 12
export const CODE_REJECTED = 13
export const PRECOMPILE_FAILURE = 14

/** The reason why a frame failed. A frame with one of the last three never ran: its gas was given back. */
export type FrameError =
  | (typeof errors)[number]
  | 'call depth'
  | 'balance too low'
  | 'nonce too high'

const errors = [
  'reverted',
  'out of gas',
  'invalid opcode',
  'stack underflow',
  'stack overflow',
  'invalid jump',
  'write in static call',
  'return data out of bounds',
  'address collision',
  'code too large',
  'code starts with 0xef',
  'precompile failed',
] as const

/** The failure a signal stands for; undefined for success. */
export function errorOf(signal: Signal): FrameError | undefined {
  return errors[signal - REVERT]
}

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

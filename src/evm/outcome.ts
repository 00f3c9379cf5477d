import type { EvmLog } from './machine/machine.js'
import type { ExecutionRecord } from './machine/record.js'
import type { FrameError } from './machine/signal.js'
import type { Miss, Overrides } from './state/state.js'

/** A message that ran to its end on known state. */
export type CallResult = {
  kind: 'done'
  success: boolean
  /** The reason of a failure: 'reverted' or an exceptional halt. */
  error: FrameError | undefined
  /** Return data, or revert data. */
  output: Uint8Array
  /** Gas as a receipt would show it: intrinsic gas, refund and calldata floor included. */
  gasUsed: number
  /** Gas used by the outermost frame alone, before any refund. */
  executionGas: number
  /** Steps, as `EvmContext.maxSteps` counts them. */
  steps: number
  /** Refund granted, already taken off `gasUsed`. */
  gasRefunded: number
  logs: EvmLog[]
  /** State to lay over the old one for the next message. After a failure only fees and nonce. */
  changes: Overrides
  /** Present when the run was to be recorded and did not do too much for that. */
  record: ExecutionRecord | undefined
}

/** The end of a run. Only 'done' says anything about the message itself. */
export type Outcome =
  | CallResult
  /** State was missing; get it and run again. */
  | { kind: 'missing'; misses: Miss[] }
  /** A node would refuse the message before running it. */
  | { kind: 'invalid'; reason: string }
  /** This EVM cannot run it; a node must. */
  | { kind: 'unsupported'; reason: string }
  /** Over the budget of steps or memory. */
  | { kind: 'exhausted'; reason: string }

import type { Accesses } from '../../chain/accessPrediction.js'
import type { StateOverride } from '../../chain/ethCall.js'
import type { Unfinished } from '../../chain/stateProvider.js'
import type { EntryPoint, OperationOutcome } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import {
  type BlockEnv,
  type EvmLog,
  type ExecutionRecord,
  type Outcome,
  type State,
  trackBlock,
  trackState,
} from '../../evm/index.js'
import type { Extent, Observation } from './observeOperation.js'
import { outcomeOf } from './simulatedOperation.js'
import { MAX_STEPS, simulateOperation, stateFor } from './simulateOperation.js'

/** Hashed inputs by which the state of the next run of its kind is foreseen; `TouchMemory` looks at as many. */
export const PREIMAGES_KEPT = 300

/** An operation to be run once, and what is asked about its run. */
export type RunTask = {
  readonly kind: 'run'
  readonly op: Operation
  readonly extent: Extent
  /** Whether the record of all that it did is wanted. */
  readonly wantsRecord: boolean
}

/** A run of an operation on complete state, as far as anybody asks about it. */
export type OperationRun = Accesses & {
  readonly kind: 'done'
  /** Whether handleOps succeeded. */
  readonly success: boolean
  /** Return data of handleOps, or its revert data. */
  readonly output: Uint8Array
  readonly observed: Observation
  /** The outcome that handleOps would put on the chain; undefined when it refuses. */
  readonly outcome: Pick<OperationOutcome, 'success' | 'reason' | 'actualGasUsed'> | undefined
  /** None where no record was wanted. */
  readonly logs: readonly EvmLog[]
  /** Undefined where it was not wanted, or would take too much memory. */
  readonly record: ExecutionRecord | undefined
  /** The blocks whose hash it asked for. */
  readonly blockHashes: ReadonlySet<bigint>
}

/** Runs an operation once, on state that may be incomplete. */
export function runOperation(
  { block: env, known, override }: Ground,
  entryPoint: EntryPoint,
  { op, extent, wantsRecord }: RunTask,
  { runSteps }: Allowance,
): PassEnd<OperationRun> {
  // Below what is pretended: only what was asked of the chain is to be read for the next run.
  const { state, touched } = trackState(known)
  const { block, asked } = trackBlock(env)
  const maxSteps = Math.min(runSteps, MAX_STEPS)
  const bounds = { onMiss: 'guess', record: true, maxSteps } as const
  const { outcome, observed } = simulateOperation(
    { block, state: stateFor(state, op, override) },
    entryPoint,
    op,
    extent,
    bounds,
  )
  if (outcome.kind !== 'done') {
    return maxSteps < MAX_STEPS && ranOutOfSteps(outcome) ? { kind: 'outgrown' } : outcome
  }
  const { success, output, record } = outcome
  const executed = outcomeOf(entryPoint, outcome)
  return {
    kind: 'done',
    success,
    output,
    observed,
    outcome: executed && {
      success: executed.success,
      reason: executed.reason,
      actualGasUsed: executed.actualGasUsed,
    },
    logs: wantsRecord ? outcome.logs : [],
    record: wantsRecord ? record : undefined,
    preimages: record?.preimages.slice(0, PREIMAGES_KEPT) ?? [],
    touched,
    blockHashes: asked,
  }
}

export function ranOutOfSteps(outcome: Outcome): boolean {
  return outcome.kind === 'exhausted' && outcome.reason === 'steps'
}

/** The block on which an operation is run, the state of it that is known, and what the caller pretends of it. */
export type Ground = {
  readonly block: BlockEnv
  readonly known: State
  readonly override: StateOverride
}

/** The part of the work of one operation that a thread does at once. */
export type Allowance = {
  /** Steps that one run may take here. */
  readonly runSteps: number
  /** Asked before each run but the first, with the steps of those before: whether the thread may do it too. */
  readonly mayGoOn: (steps: number) => boolean
}

/** The end of a part of the work that is not the end of all of it. */
export type Interrupted =
  /** The thread did its part; the rest can be done anywhere. */
  | { readonly kind: 'paused' }
  /** A run needs more steps than it may take here. */
  | { readonly kind: 'outgrown' }

/** The end of a part of the work, which came to its end, cannot, or is to go on. */
export type PassEnd<Done> = Done | Unfinished | Interrupted

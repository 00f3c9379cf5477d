import type { Traces } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type ExecutionRecord, type Outcome, trackState } from '../../evm/index.js'
import type { Extent, Observation } from './observeOperation.js'
import type { Allowance, Ground, PassEnd } from './pass.js'
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
export type OperationRun = Traces & {
  readonly kind: 'done'
  /** Whether handleOps succeeded. */
  readonly success: boolean
  /** Return data of handleOps, or its revert data. */
  readonly output: Uint8Array
  readonly observed: Observation
  /** The outcome that handleOps would put on the chain; undefined when it refuses. */
  readonly outcome: { readonly success: boolean; readonly reason: `0x${string}` } | undefined
  /** Undefined where it was not wanted, or would take too much memory. */
  readonly record: ExecutionRecord | undefined
}

/** Runs an operation once, on state that may be incomplete. */
export function runOperation(
  { block, known, override }: Ground,
  entryPoint: EntryPoint,
  { op, extent, wantsRecord }: RunTask,
  { runSteps }: Allowance,
): PassEnd<OperationRun> {
  // Below what is pretended: only what was asked of the chain is to be read for the next run.
  const { state, touched } = trackState(known)
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
    outcome: executed && { success: executed.success, reason: executed.reason },
    record: wantsRecord ? record : undefined,
    preimages: record?.preimages.slice(0, PREIMAGES_KEPT) ?? [],
    touched,
  }
}

export function ranOutOfSteps(outcome: Outcome): boolean {
  return outcome.kind === 'exhausted' && outcome.reason === 'steps'
}

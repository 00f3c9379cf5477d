import type { Hex } from 'viem'
import { createEntryPoint } from '../../entrypoint/createEntryPoint.js'
import type { EntryPoint, Version } from '../../entrypoint/entryPoint.js'
import type { StateOverride } from '../engine.js'
import {
  type MeasurePass,
  type MeasureTask,
  measureOperation,
} from '../inProcess/measureOperation.js'
import type { Allowance, PassEnd } from '../inProcess/pass.js'
import { type OperationRun, type RunTask, runOperation } from '../inProcess/runOperation.js'
import { type SimulationState, stateFor } from '../inProcess/simulateOperation.js'
import { type CarriedBlock, unpackBlock } from './carriedBlock.js'
import type { CodeReceiver } from './codes.js'

/** Work on one operation in our EVM. */
export type Task = RunTask | MeasureTask

/** The end of a part of such work. */
export type TaskPass<Of extends Task> = Of extends MeasureTask
  ? MeasurePass
  : { readonly end: PassEnd<OperationRun> }

/** A part of such work as data: it goes to another thread and its end comes back. */
export type Job = {
  readonly entryPoint: { readonly version: Version; readonly address: EntryPoint['address'] }
  readonly override: StateOverride
  readonly known: CarriedBlock
  readonly task: Task
  /** See `Allowance`. */
  readonly runSteps: number
}

/** Milliseconds after which a job makes room for another one, as soon as a run has ended. */
const JOB_TIME = 50

/** Does a part of the work, on a state that may be incomplete. */
export function runTask<Of extends Task>(
  on: SimulationState,
  entryPoint: EntryPoint,
  task: Of,
  allowance: Allowance,
): TaskPass<Of> {
  const pass =
    task.kind === 'measure'
      ? measureOperation(on, entryPoint, task, allowance)
      : { end: runOperation(on, entryPoint, task, allowance) }
  return pass as TaskPass<Of>
}

/** Runs jobs as they come to a thread, which keeps the code that they bring. */
export function createJobRunner(receive: CodeReceiver) {
  const entryPoints = new Map<Hex, EntryPoint>()
  const entryPointOf = ({ version, address }: Job['entryPoint']): EntryPoint => {
    const known = entryPoints.get(address) ?? createEntryPoint(version, address)
    entryPoints.set(address, known)
    return known
  }
  return ({ entryPoint, override, known, task, runSteps }: Job) => {
    const { block, state } = unpackBlock(known, receive)
    const end = performance.now() + JOB_TIME
    const allowance = { runSteps, mayGoOn: () => performance.now() < end }
    const on = { block, state: stateFor(state, task.op, override) }
    return runTask(on, entryPointOf(entryPoint), task, allowance)
  }
}

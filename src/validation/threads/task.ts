import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import {
  type MeasurePass,
  type MeasureTask,
  measureOperation,
} from '../inProcess/measureOperation.js'
import type { Allowance, Ground, PassEnd } from '../inProcess/pass.js'
import { type OperationRun, type RunTask, runOperation } from '../inProcess/runOperation.js'

/** Work on one operation in our EVM. */
export type Task = RunTask | MeasureTask

/** The end of a part of such work. */
export type TaskPass<Of extends Task> = Of extends MeasureTask
  ? MeasurePass
  : { readonly end: PassEnd<OperationRun> }

/** Does a part of the work, on a state that may be incomplete. */
export function runTask<Of extends Task>(
  ground: Ground,
  entryPoint: EntryPoint,
  task: Of,
  allowance: Allowance,
): TaskPass<Of> {
  const pass =
    task.kind === 'measure'
      ? measureOperation(ground, entryPoint, task, allowance)
      : { end: runOperation(ground, entryPoint, task, allowance) }
  return pass as TaskPass<Of>
}

import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import {
  type MeasurePass,
  type MeasureTask,
  measureOperation,
} from '../inProcess/measureOperation.js'
import type { Allowance, Ground, PassEnd } from '../inProcess/pass.js'
import { type BundleRun, type BundleTask, runBundle } from '../inProcess/runBundle.js'
import { type OperationRun, type RunTask, runOperation } from '../inProcess/runOperation.js'

/** Work on one operation, or on a mined bundle, in our EVM. */
export type Task = RunTask | BundleTask | MeasureTask

/** The end of a part of such work. */
export type TaskPass<Of extends Task> = Of extends MeasureTask
  ? MeasurePass
  : Of extends BundleTask
    ? { readonly end: PassEnd<BundleRun> }
    : { readonly end: PassEnd<OperationRun> }

/** Does a part of the work, on a state that may be incomplete. */
export function runTask<Of extends Task>(
  ground: Ground,
  entryPoint: EntryPoint,
  task: Of,
  allowance: Allowance,
): TaskPass<Of> {
  return passOf(ground, entryPoint, task, allowance) as TaskPass<Of>
}

function passOf(ground: Ground, entryPoint: EntryPoint, task: Task, allowance: Allowance) {
  switch (task.kind) {
    case 'measure':
      return measureOperation(ground, entryPoint, task, allowance)
    case 'bundle':
      return { end: runBundle(ground, entryPoint, task, allowance) }
    case 'run':
      return { end: runOperation(ground, entryPoint, task, allowance) }
  }
}

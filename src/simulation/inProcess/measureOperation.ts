import type { Accesses } from '../../chain/accessPrediction.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import type { GasBounds, MeasureResult } from '../engine.js'
import { measureSteps } from '../measureSteps.js'
import { keptRun, type Pass, PassOver, type Progress, searchLimit, stateOn } from './measurePass.js'
import type { Allowance, Ground, PassEnd } from './runOperation.js'
import { refusal } from './simulatedOperation.js'

/** An operation whose gas limits are searched. */
export type MeasureTask = {
  readonly kind: 'measure'
  readonly op: Operation
  readonly bounds: GasBounds
  /** All that was found out before, on the same block. */
  readonly progress: Progress
}

/** A measurement that has come to its end. */
export type Measured = Accesses & { readonly kind: 'done'; readonly measured: MeasureResult }

/** The end of a part of a measurement, and all that it found out. */
export type MeasurePass = { readonly end: PassEnd<Measured>; readonly progress: Progress }

/**
 * Gas limits by the search of `measureSteps`, whose trials are whole runs of handleOps on the state of one block, so
 * that every rule of the EntryPoint holds as it will on the chain.
 *
 * A trial may need state that no run before it needed: each has a hash of its own, and so have the slots
 * that an account or a paymaster names by the hash, or by the signer recovered from it. It goes on with
 * zeros there, which such slots nearly always hold. What the trials of a search missed is reported at
 * its end. The search is then repeated, but for the trials that missed nothing.
 *
 * The search is the same each time, so it can end after any run and begin again with what is known.
 */
export function measureOperation(
  ground: Ground,
  entryPoint: EntryPoint,
  task: MeasureTask,
  allowance: Allowance,
): MeasurePass {
  const { answers, ...progress } = task.progress
  const pass: Pass = {
    ground,
    on: stateOn(ground, ground.known, task.op),
    entryPoint,
    op: task.op,
    allowance,
    misses: [],
    runs: 0,
    steps: 0,
    progress: { ...progress, answers: new Map(answers) },
  }
  try {
    const measured = measure(pass, task.bounds)
    const { ample } = pass.progress.kept
    if (ample === undefined) throw new Error('a measurement without a run')
    const { touched, preimages } = ample
    return { end: { kind: 'done', measured, touched, preimages }, progress: pass.progress }
  } catch (error) {
    if (!(error instanceof PassOver)) throw error
    return { end: error.end, progress: pass.progress }
  }
}

function measure(pass: Pass, bounds: GasBounds): MeasureResult {
  const { entryPoint, op, on } = pass
  const refuse = (output: Uint8Array) => refusal(entryPoint, op, output, on.state)
  const steps = measureSteps({ entryPoint, op, refuse }, bounds)
  let step = steps.next()
  while (step.done !== true) {
    const { value } = step
    step = steps.next(
      value.kind === 'run'
        ? keptRun(pass, value.name, value.limits, value.extent)
        : searchLimit(pass, value),
    )
  }
  return step.value
}

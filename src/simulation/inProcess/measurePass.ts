import type { Accesses } from '../../chain/accessPrediction.js'
import type { Unfinished } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { type Miss, type Outcome, type State, trackState } from '../../evm/index.js'
import {
  type MeasuredRun,
  type RunName,
  type TrialLimits,
  type TrialSearch,
  withLimits,
} from '../measureSteps.js'
import type { Extent } from './observeOperation.js'
import {
  type Allowance,
  type Ground,
  type Interrupted,
  PREIMAGES_KEPT,
  ranOutOfSteps,
} from './runOperation.js'
import {
  MAX_STEPS,
  type Simulation,
  type SimulationState,
  simulateOperation,
  stateFor,
} from './simulateOperation.js'
import { smallestLimit } from './smallestLimit.js'

/** The part of a run that the measurement needs. */
export type KeptRun = Accesses & MeasuredRun & { readonly steps: number }

/** What the runs of a measurement have shown so far: data, so that any thread can go on with it. */
export type Progress = {
  readonly kept: { readonly [Name in RunName]?: KeptRun }
  /** Whether a limit suffices, by search and limit. */
  readonly answers: ReadonlyMap<string, boolean>
  /** Steps that trials have taken. */
  readonly steps: number
}

export const noProgress: Progress = { kept: {}, answers: new Map(), steps: 0 }

export function stateOn({ block, override }: Ground, known: State, op: Operation): SimulationState {
  return { block, state: stateFor(known, op, override) }
}

/** Thrown to leave a measurement; caught where it begins. */
export class PassOver extends Error {
  override readonly name = 'PassOver'
  readonly end: Unfinished | Interrupted
  constructor(end: Unfinished | Interrupted) {
    super(end.kind)
    this.end = end
  }
}

export type Pass = {
  readonly ground: Ground
  /** The block and its state, as trials see them. */
  readonly on: SimulationState
  readonly entryPoint: EntryPoint
  readonly op: Operation
  readonly allowance: Allowance
  /** State that the trials of the present search did without. */
  readonly misses: Miss[]
  runs: number
  /** Steps that the runs of this pass have taken. */
  steps: number
  progress: Progress & { readonly answers: Map<string, boolean> }
}

/** One of the runs from which searches begin; its state must be complete. */
export function keptRun(pass: Pass, name: RunName, limits: TrialLimits, extent: Extent): KeptRun {
  const known = pass.progress.kept[name]
  if (known !== undefined) return known
  // Below what is pretended: only what was asked of the chain is to be read for the next run.
  const { state, touched } = trackState(pass.ground.known)
  const on = stateOn(pass.ground, state, pass.op)
  // The record shows how slots are found, see `Accesses`; that of one run suffices.
  const record = name === 'ample'
  const { outcome, observed } = run(pass, on, limits, extent, { record, most: MAX_STEPS })
  if (outcome.kind !== 'done') throw new PassOver(outcome)
  const { success, output, steps } = outcome
  const kept = {
    observed,
    success,
    output,
    steps,
    touched,
    preimages: outcome.record?.preimages.slice(0, PREIMAGES_KEPT) ?? [],
  }
  pass.progress = { ...pass.progress, kept: { ...pass.progress.kept, [name]: kept } }
  return kept
}

/** A run, where the thread may do one more and it needs no more steps than it may take here. */
function run(
  pass: Pass,
  on: SimulationState,
  limits: TrialLimits,
  extent: Extent,
  { record, most }: { readonly record: boolean; readonly most: number },
): Simulation {
  const { allowance, entryPoint, op } = pass
  if (pass.runs > 0 && !allowance.mayGoOn(pass.steps)) throw interrupted(pass, 'paused')
  pass.runs += 1
  const maxSteps = Math.min(most, allowance.runSteps)
  const simulation = simulateOperation(on, entryPoint, withLimits(entryPoint, op, limits), extent, {
    onMiss: 'guess',
    record,
    maxSteps,
  })
  pass.steps += stepsOf(simulation.outcome, pass.progress.kept.ample?.steps ?? 0, maxSteps)
  if (maxSteps < most && ranOutOfSteps(simulation.outcome)) throw interrupted(pass, 'outgrown')
  return simulation
}

/** What trials missed is read first: without it they are repeated wherever the measurement goes on. */
function interrupted({ misses }: Pass, kind: Interrupted['kind']): PassOver {
  return new PassOver(misses.length > 0 ? { kind: 'missing', misses } : { kind })
}

/**
 * Steps that the trials of one measurement may take together. An operation that uses up a transaction's
 * 16.7 million gas takes some 5 million in each of about ten trials.
 */
const MEASURE_STEPS = 3 * MAX_STEPS

export function searchLimit(pass: Pass, search: TrialSearch): bigint {
  const limit = smallestLimit(search, (limit) => answer(pass, search, limit))
  if (pass.misses.length > 0) throw new PassOver({ kind: 'missing', misses: pass.misses })
  return limit
}

function answer(pass: Pass, search: TrialSearch, limit: bigint): boolean {
  const { answers } = pass.progress
  const key = `${search.name} ${limit}`
  const known = answers.get(key)
  if (known !== undefined) return known
  const most = Math.min(MEASURE_STEPS - pass.progress.steps, MAX_STEPS)
  const bounds = { record: false, most }
  const { outcome, observed } = run(pass, pass.on, search.limitsAt(limit), search.extent, bounds)
  const steps = pass.progress.steps + stepsOf(outcome, pass.progress.kept.ample?.steps ?? 0, most)
  pass.progress = { ...pass.progress, steps }
  if (steps >= MEASURE_STEPS) throw new PassOver({ kind: 'exhausted', reason: 'steps' })
  const isMissing = outcome.kind === 'missing'
  const suffices = (outcome.kind === 'done' || isMissing) && search.suffices(observed, limit)
  if (isMissing) pass.misses.push(...outcome.misses)
  else answers.set(key, suffices)
  return suffices
}

/** The steps of a trial; `likely` where state was missing, all that it had where it ran out of them. */
function stepsOf(outcome: Outcome, likely: number, most: number): number {
  if (outcome.kind === 'done') return outcome.steps
  return outcome.kind === 'exhausted' ? most : likely
}

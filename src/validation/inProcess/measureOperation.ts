import { greatest } from '../../base/bigints.js'
import type { Traces, Unfinished } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type Miss, type Outcome, type State, trackState } from '../../evm/index.js'
import type { GasBounds, MeasureResult } from '../engine.js'
import { postOpReverted } from '../refusals.js'
import type { CallEnd, Extent, Observation } from './observeOperation.js'
import type { Allowance, Ground, Interrupted, PassEnd } from './pass.js'
import { PREIMAGES_KEPT, ranOutOfSteps } from './runOperation.js'
import { refusal, validityOf } from './simulatedOperation.js'
import {
  MAX_STEPS,
  type Simulation,
  type SimulationState,
  simulateOperation,
  stateFor,
} from './simulateOperation.js'
import { type LimitSearch, smallestLimit } from './smallestLimit.js'

/** Gas limits of one trial. Those of the paymaster count where the version has them. */
type TrialLimits = {
  readonly call: bigint
  readonly verification: bigint
  readonly paymasterVerification: bigint
  readonly postOp: bigint
}

/**
 * Gas by which two runs may differ since each limit gives the operation another hash, and what is recovered from it
 * takes another path: a Safe with Safe7579 takes one gas more with some hashes. Less than any access to state, so
 * that a call which was swallowed still shows.
 */
const HASH_NOISE = 64n

/** An operation whose gas limits are searched. */
export type MeasureTask = {
  readonly kind: 'measure'
  readonly op: Operation
  readonly bounds: GasBounds
  /** All that was found out before, on the same block. */
  readonly progress: Progress
}

/** The part of a run that the measurement needs. */
type KeptRun = Traces & {
  readonly observed: Observation
  readonly success: boolean
  readonly output: Uint8Array
  readonly steps: number
}

/** What the runs of a measurement have shown so far: data, so that any thread can go on with it. */
export type Progress = {
  /** Under ample limits. */
  readonly ample?: KeptRun
  /** Verification under limits close to its need. */
  readonly realistic?: KeptRun
  /** Whether a limit suffices, by search and limit. */
  readonly answers: ReadonlyMap<string, boolean>
  /** Steps that trials have taken. */
  readonly steps: number
}

export const noProgress: Progress = { answers: new Map(), steps: 0 }

/** A measurement that has come to its end. */
export type Measured = Traces & { readonly kind: 'done'; readonly measured: MeasureResult }

/** The end of a part of a measurement, and all that it found out. */
export type MeasurePass = { readonly end: PassEnd<Measured>; readonly progress: Progress }

/**
 * Gas limits by search. Ample limits come first; each limit is then narrowed by whole trials of
 * handleOps, on the state of one block, so that every rule of the EntryPoint holds as it will on the
 * chain. A limit suffices only if the trial uses as much gas as under ample limits (within HASH_NOISE): a trial that
 * uses less has swallowed a call that ran out of gas. Each limit lies at most 1.6 % (and 64 gas) above the
 * smallest.
 *
 * Verification is measured under realistic limits: whether an account must pay a prefund depends on
 * them. The limits in `op` are ignored; `bounds.postOp` is kept as it is.
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
    progress: { ...progress, answers: new Map(answers) },
  }
  try {
    const measured = measure(pass, task.bounds)
    const { ample } = pass.progress
    if (ample === undefined) throw new Error('a measurement without a run')
    const { touched, preimages } = ample
    return { end: { kind: 'done', measured, touched, preimages }, progress: pass.progress }
  } catch (error) {
    if (!(error instanceof PassOver)) throw error
    return { end: error.end, progress: pass.progress }
  }
}

function stateOn({ block, override }: Ground, known: State, op: Operation): SimulationState {
  return { block, state: stateFor(known, op, override) }
}

/** Thrown to leave a measurement; caught where it begins. */
class PassOver extends Error {
  override readonly name = 'PassOver'
  readonly end: Unfinished | Interrupted
  constructor(end: Unfinished | Interrupted) {
    super(end.kind)
    this.end = end
  }
}

type Pass = {
  readonly ground: Ground
  /** The block and its state, as trials see them. */
  readonly on: SimulationState
  readonly entryPoint: EntryPoint
  readonly op: Operation
  readonly allowance: Allowance
  /** State that the trials of the present search did without. */
  readonly misses: Miss[]
  runs: number
  progress: Progress & { readonly answers: Map<string, boolean> }
}

function measure(pass: Pass, bounds: GasBounds): MeasureResult {
  const { entryPoint } = pass
  const { call, verification, ownCall, postOp = verification } = bounds
  const ample = { call, verification, paymasterVerification: verification, postOp }
  const first = keptRun(pass, 'ample', ample, 'execution')
  const refused = refusedBy(pass, first)
  if (refused !== undefined) return refused

  const { observed } = first
  const callGasLimit = callLimit(
    pass,
    observed,
    'call',
    { ceiling: call, own: ownCall },
    (limit) => ({ ...ample, call: limit }),
  )
  const limits = { ...ample, call: callGasLimit }
  const realistic = verifyRealistically(pass, limits, first)
  const verificationGas = verificationLimits(pass, realistic)
  const narrow = { ...limits, ...verificationGas }
  const isFixed = postOp !== verification
  const searched = (limit: bigint) =>
    entryPoint.hasPaymasterLimits
      ? { ...narrow, postOp: limit }
      : { ...narrow, verification: greatest(limit, narrow.verification) }
  const postOpGasLimit = isFixed
    ? postOp
    : callLimit(pass, observed, 'postOp', { ceiling: verification }, searched)
  const { validAfter, validUntil } = validityOf(entryPoint, observed)
  return {
    outcome: 'measured',
    gas: {
      callGasLimit,
      verificationGasLimit: verificationGas.verification,
      paymasterVerificationGasLimit: verificationGas.paymasterVerification,
      verificationGasUsed: realistic.used,
      contextSize: realistic.run.observed.validated?.contextSize ?? 0,
      postOpGasLimit,
      validAfter,
      validUntil,
    },
  }
}

function refusedBy({ entryPoint, op, on }: Pass, run: KeptRun): MeasureResult | undefined {
  const { call, postOp, validated } = run.observed
  if (call?.success === false) return { outcome: 'reverted', revertData: call.revertData }
  if (postOp?.success === false) {
    return { outcome: 'refused', failure: postOpReverted(postOp.revertData) }
  }
  if (validated !== undefined && run.success) return undefined
  return { outcome: 'refused', failure: refusal(entryPoint, op, run.output, on.state) }
}

function withLimits({ entryPoint, op }: Pass, limits: TrialLimits): Operation {
  const limited = { ...op, callGasLimit: limits.call, verificationGasLimit: limits.verification }
  if (!hasPaymasterLimits(entryPoint, op)) return limited
  return {
    ...limited,
    paymasterVerificationGasLimit: limits.paymasterVerification,
    paymasterPostOpGasLimit: limits.postOp,
  }
}

function hasPaymasterLimits(entryPoint: EntryPoint, op: Operation): boolean {
  return entryPoint.hasPaymasterLimits && op.paymaster !== undefined
}

/** One of the runs from which searches begin; its state must be complete. */
function keptRun(
  pass: Pass,
  name: 'ample' | 'realistic',
  limits: TrialLimits,
  extent: Extent,
): KeptRun {
  const known = pass.progress[name]
  if (known !== undefined) return known
  // Below what is pretended: only what was asked of the chain is to be read for the next run.
  const { state, touched } = trackState(pass.ground.known)
  const on = stateOn(pass.ground, state, pass.op)
  // The record tells how slots are found, see `Traces`; that of one run suffices.
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
  pass.progress = { ...pass.progress, [name]: kept }
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
  const { allowance, entryPoint } = pass
  if (pass.runs > 0 && !allowance.mayGoOn()) throw interrupted(pass, 'paused')
  pass.runs += 1
  const maxSteps = Math.min(most, allowance.runSteps)
  const simulation = simulateOperation(on, entryPoint, withLimits(pass, limits), extent, {
    onMiss: 'guess',
    record,
    maxSteps,
  })
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

/** A search, by a name of its own, whose trials are judged by what is observed of them. */
type TrialSearch = LimitSearch & {
  readonly name: string
  readonly extent: Extent
  readonly limitsAt: (limit: bigint) => TrialLimits
  readonly suffices: (observed: Observation) => boolean
}

function searchLimit(pass: Pass, search: TrialSearch): bigint {
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
  const steps = pass.progress.steps + stepsOf(outcome, pass.progress.ample?.steps ?? 0, most)
  pass.progress = { ...pass.progress, steps }
  if (steps >= MEASURE_STEPS) throw new PassOver({ kind: 'exhausted', reason: 'steps' })
  const isMissing = outcome.kind === 'missing'
  const suffices = (outcome.kind === 'done' || isMissing) && search.suffices(observed)
  if (isMissing) pass.misses.push(...outcome.misses)
  else answers.set(key, suffices)
  return suffices
}

/** The steps of a trial; `likely` where state was missing, all that it had where it ran out of them. */
function stepsOf(outcome: Outcome, likely: number, most: number): number {
  if (outcome.kind === 'done') return outcome.steps
  return outcome.kind === 'exhausted' ? most : likely
}

/** The smallest limit of the account's call or of postOp, in gas; 0 when the call is not made. */
function callLimit(
  pass: Pass,
  observed: Observation,
  name: 'call' | 'postOp',
  bound: Pick<LimitSearch, 'ceiling' | 'own'>,
  limitsAt: (limit: bigint) => TrialLimits,
): bigint {
  const ample = observed[name]
  if (ample === undefined) return 0n
  const used = BigInt(ample.gasUsed)
  return searchLimit(pass, {
    ...bound,
    name,
    floor: used - 1n,
    guess: used,
    tolerance: tolerated(used),
    extent: 'execution',
    limitsAt,
    suffices: (trial) => endsAs(trial[name], ample),
  })
}

function endsAs(end: CallEnd | undefined, ample: CallEnd): boolean {
  return end?.success === true && end.gasUsed + Number(HASH_NOISE) >= ample.gasUsed
}

/** Limits that suffice, and the verification under them. */
type Verification = {
  readonly limits: TrialLimits
  readonly run: KeptRun
  /** Gas of verification, without preVerificationGas. */
  readonly used: bigint
}

/** Verification under limits close to its need; under `limits` when these do not suffice. */
function verifyRealistically(pass: Pass, limits: TrialLimits, first: KeptRun): Verification {
  const used = verificationUsed(first.observed, pass.op) ?? 0n
  const likely = used + used / 16n + 4096n
  const closer = { ...limits, verification: likely, paymasterVerification: likely }
  const second = keptRun(pass, 'realistic', closer, 'validation')
  const usedNow = verificationUsed(second.observed, pass.op)
  if (usedNow === undefined) return { limits, run: first, used }
  return { limits: closer, run: second, used: usedNow }
}

function verificationUsed({ validated }: Observation, op: Operation): bigint | undefined {
  return validated && validated.preOpGas - op.preVerificationGas
}

function verificationLimits(
  pass: Pass,
  { limits, run: { observed }, used }: Verification,
): Pick<TrialLimits, 'verification' | 'paymasterVerification'> {
  const { entryPoint, op } = pass
  const smallest = (search: Omit<TrialSearch, 'tolerance' | 'extent' | 'suffices'>) =>
    searchLimit(pass, {
      ...search,
      tolerance: tolerated(search.floor),
      extent: 'validation',
      suffices: (trial) => {
        const usedNow = verificationUsed(trial, op)
        return usedNow !== undefined && usedNow + HASH_NOISE >= used
      },
    })
  const account = BigInt(observed.accountGas)
  const paymaster = BigInt(observed.paymasterGas)
  const isSeparate = hasPaymasterLimits(entryPoint, op)
  const verification = smallest({
    name: 'verification',
    floor: account - 1n,
    ceiling: limits.verification,
    guess: isSeparate ? used - paymaster - PAYMASTER_OVERHEAD : used,
    limitsAt: (limit) => ({ ...limits, verification: limit }),
  })
  if (!isSeparate) return { verification, paymasterVerification: 0n }
  const paymasterVerification = smallest({
    name: 'paymasterVerification',
    floor: paymaster - 1n,
    ceiling: limits.paymasterVerification,
    guess: paymaster + PAYMASTER_OVERHEAD,
    limitsAt: (limit) => ({ ...limits, verification, paymasterVerification: limit }),
  })
  return { verification, paymasterVerification }
}

/** gas of the EntryPoint itself that paymasterVerificationGasLimit bounds too: for the first guess. */
const PAYMASTER_OVERHEAD = 9_700n

/** The tolerance (gas) of a search for a limit of a call that used this much. */
function tolerated(used: bigint): bigint {
  return used / 64n + 64n
}

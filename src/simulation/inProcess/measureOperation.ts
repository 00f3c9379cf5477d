import { greatest } from '../../base/bigints.js'
import type { Accesses } from '../../chain/accessPrediction.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import type { GasBounds, MeasureResult } from '../engine.js'
import { postOpReverted } from '../operationFailure.js'
import {
  hasPaymasterLimits,
  type KeptRun,
  keptRun,
  type Pass,
  PassOver,
  type Progress,
  searchLimit,
  stateOn,
  type TrialLimits,
  type TrialSearch,
} from './measurePass.js'
import type { CallEnd, Observation } from './observeOperation.js'
import type { Allowance, Ground, PassEnd } from './runOperation.js'
import { refusal, validityOf } from './simulatedOperation.js'
import type { LimitSearch } from './smallestLimit.js'

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

/** A measurement that has come to its end. */
export type Measured = Accesses & { readonly kind: 'done'; readonly measured: MeasureResult }

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

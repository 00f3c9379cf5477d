import { setImmediate as nextTurn } from 'node:timers/promises'
import { greatest } from '../../base/bigints.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { GasBounds, MeasureResult } from '../engine.js'
import { postOpReverted } from '../refusals.js'
import type { CallEnd, Extent, Observation } from './observeOperation.js'
import { refusal, type SimulatedOperation, timeRangeOf } from './readSimulation.js'
import { type SimulationState, simulateOperation } from './simulateOperation.js'
import { smallestLimit } from './smallestLimit.js'

/** Gas limits of one run. Those of the paymaster count where the version has them. */
type TrialLimits = {
  readonly call: bigint
  readonly verification: bigint
  readonly paymasterVerification: bigint
  readonly postOp: bigint
}

/** Runs an operation, reading what state it needs. */
type TrialRun = (op: Operation, extent: Extent) => Promise<SimulatedOperation>

/**
 * Gas limits by search. Ample limits come first; each limit is then narrowed by whole runs of
 * handleOps, on the state that the first run needed, so that every rule of the EntryPoint holds as it
 * will on the chain. A limit counts only if the run uses as much gas as under ample ones: one that uses
 * less has swallowed a call that ran out. Each lies at most 1.6 % (and 64 gas) above the smallest.
 *
 * Verification is measured under realistic limits: whether an account must pay a prefund depends on
 * them. Limits in `op` are not looked at; `bounds.postOp` is kept as it is.
 */
export async function measureOperation(
  run: TrialRun,
  entryPoint: EntryPoint,
  op: Operation,
  { call, verification, postOp = verification }: GasBounds,
): Promise<MeasureResult> {
  const ample = { call, verification, paymasterVerification: verification, postOp }
  const first = await run(withLimits(entryPoint, op, ample), 'execution')
  const refused = refusedBy(entryPoint, op, first)
  if (refused !== undefined) return refused

  const { observed, stage } = first
  const subject: Subject = { entryPoint, op, stage }
  const callGasLimit = await callLimit(subject, observed, 'call', call, (limit) => ({
    ...ample,
    call: limit,
  }))
  const limits = { ...ample, call: callGasLimit }
  const realistic = await runRealistic(run, entryPoint, op, limits, first)
  const found = await verificationLimits({ ...subject, stage: realistic.stage }, realistic)
  const narrow = { ...limits, ...found }
  const isGiven = postOp !== verification
  const searched = (limit: bigint) =>
    entryPoint.hasPaymasterLimits
      ? { ...narrow, postOp: limit }
      : { ...narrow, verification: greatest(limit, narrow.verification) }
  const postOpGasLimit = isGiven
    ? postOp
    : await callLimit(subject, observed, 'postOp', verification, searched)
  return {
    outcome: 'measured',
    gas: {
      callGasLimit,
      verificationGasLimit: found.verification,
      paymasterVerificationGasLimit: found.paymasterVerification,
      verificationGasUsed: realistic.used,
      postOpGasLimit,
      ...timeRangeOf(observed),
    },
  }
}

function refusedBy(
  entryPoint: EntryPoint,
  op: Operation,
  rehearsed: SimulatedOperation,
): MeasureResult | undefined {
  const { call, postOp, validated } = rehearsed.observed
  if (call?.success === false) return { outcome: 'reverted', revertData: call.revertData }
  if (postOp?.success === false) {
    return { outcome: 'refused', failure: postOpReverted(postOp.revertData) }
  }
  if (validated !== undefined && rehearsed.result.success) return undefined
  return { outcome: 'refused', failure: refusal(entryPoint, op, rehearsed) }
}

function withLimits(entryPoint: EntryPoint, op: Operation, limits: TrialLimits): Operation {
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

/** What is searched, and on which state; nothing more is read. */
type Subject = {
  readonly entryPoint: EntryPoint
  readonly op: Operation
  readonly stage: SimulationState
}

/** A run of so much gas takes milliseconds; others get their turn after it. */
const HEAVY_GAS = 1_000_000

/**
 * One run under `limits`. Undefined when it needs state that no run under ample limits needed: then it
 * does something else, and the limits do not do.
 */
async function attempt(
  { entryPoint, op, stage }: Subject,
  limits: TrialLimits,
  extent: Extent,
): Promise<Observation | undefined> {
  const how = { onMiss: 'stop', record: false } as const
  const limited = withLimits(entryPoint, op, limits)
  const { outcome, observed } = simulateOperation(stage, entryPoint, limited, extent, how)
  if (outcome.kind !== 'done') return undefined
  if (outcome.executionGas > HEAVY_GAS) await nextTurn()
  return observed
}

/** The smallest limit of the call of the account or of postOp; 0 when there is none. */
async function callLimit(
  subject: Subject,
  observed: Observation,
  name: 'call' | 'postOp',
  ceiling: bigint,
  limitsAt: (limit: bigint) => TrialLimits,
): Promise<bigint> {
  const ample = observed[name]
  if (ample === undefined) return 0n
  const used = BigInt(ample.gasUsed)
  const search = { floor: used - 1n, ceiling, guess: used, tolerance: tolerated(used) }
  return smallestLimit(search, async (limit) => {
    const ended = (await attempt(subject, limitsAt(limit), 'execution'))?.[name]
    return endsAs(ended, ample)
  })
}

function endsAs(end: CallEnd | undefined, ample: CallEnd): boolean {
  return end?.success === true && end.gasUsed >= ample.gasUsed
}

/** Limits that do, and what verification does under them. */
type Verification = {
  readonly limits: TrialLimits
  readonly observed: Observation
  readonly stage: SimulationState
  /** Gas of verification, without preVerificationGas. */
  readonly used: bigint
}

async function runRealistic(
  run: TrialRun,
  entryPoint: EntryPoint,
  op: Operation,
  limits: TrialLimits,
  { observed, stage }: SimulatedOperation,
): Promise<Verification> {
  const used = verificationUsed(observed, op) ?? 0n
  const likely = used + used / 16n + 4096n
  const closer = { ...limits, verification: likely, paymasterVerification: likely }
  const second = await run(withLimits(entryPoint, op, closer), 'validation')
  const usedNow = verificationUsed(second.observed, op)
  if (usedNow === undefined) return { limits, observed, stage, used }
  return { limits: closer, observed: second.observed, stage: second.stage, used: usedNow }
}

function verificationUsed({ validated }: Observation, op: Operation): bigint | undefined {
  return validated && validated.preOpGas - op.preVerificationGas
}

async function verificationLimits(
  subject: Subject,
  { limits, observed, used }: Verification,
): Promise<Pick<TrialLimits, 'verification' | 'paymasterVerification'>> {
  const { entryPoint, op } = subject
  const does = async (tried: TrialLimits) => {
    const seen = await attempt(subject, tried, 'validation')
    const usedNow = seen && verificationUsed(seen, op)
    return usedNow !== undefined && usedNow >= used
  }
  const account = BigInt(observed.accountGas)
  const paymaster = BigInt(observed.paymasterGas)
  const isSeparate = hasPaymasterLimits(entryPoint, op)
  const verification = await smallestLimit(
    {
      floor: account - 1n,
      ceiling: limits.verification,
      guess: isSeparate ? used - paymaster - PAYMASTER_OVERHEAD : used,
      tolerance: tolerated(account),
    },
    (limit) => does({ ...limits, verification: limit }),
  )
  if (!isSeparate) return { verification, paymasterVerification: 0n }
  const paymasterVerification = await smallestLimit(
    {
      floor: paymaster - 1n,
      ceiling: limits.paymasterVerification,
      guess: paymaster + PAYMASTER_OVERHEAD,
      tolerance: tolerated(paymaster),
    },
    (limit) => does({ ...limits, verification, paymasterVerification: limit }),
  )
  return { verification, paymasterVerification }
}

/** Of the EntryPoint itself within what paymasterVerificationGasLimit bounds: where to look first. */
const PAYMASTER_OVERHEAD = 9_700n

/** Gas used is the least that a limit may be. */
function tolerated(used: bigint): bigint {
  return used / 64n + 64n
}

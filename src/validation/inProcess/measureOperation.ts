import { setImmediate as nextTurn } from 'node:timers/promises'
import { greatest } from '../../base/bigints.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { TooCostlyError } from '../../errors/simulationErrors.js'
import type { Outcome } from '../../evm/index.js'
import type { GasBounds, MeasureResult } from '../engine.js'
import { postOpReverted } from '../refusals.js'
import { createRunner } from './createRunner.js'
import type { CallEnd, Extent, Observation } from './observeOperation.js'
import { settleSearch } from './settleSearch.js'
import { refusal, type SimulatedOperation, validityOf } from './simulatedOperation.js'
import { LIGHT_STEPS, MAX_STEPS, simulateOperation } from './simulateOperation.js'
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

/** Runs an operation, reading the state that it needs. */
type Simulate = (op: Operation, extent: Extent) => Promise<SimulatedOperation>

/**
 * Gas limits by search. Ample limits come first; each limit is then narrowed by whole trials of
 * handleOps, on the state of one block, so that every rule of the EntryPoint holds as it will on the
 * chain. A limit suffices only if the trial uses as much gas as under ample limits (within HASH_NOISE): a trial that
 * uses less has swallowed a call that ran out of gas. Each limit lies at most 1.6 % (and 64 gas) above the
 * smallest.
 *
 * Verification is measured under realistic limits: whether an account must pay a prefund depends on
 * them. The limits in `op` are ignored; `bounds.postOp` is kept as it is.
 */
export async function measureOperation(
  simulate: Simulate,
  entryPoint: EntryPoint,
  op: Operation,
  { call, verification, ownCall, postOp = verification }: GasBounds,
): Promise<MeasureResult> {
  const ample = { call, verification, paymasterVerification: verification, postOp }
  const first = await simulate(withLimits(entryPoint, op, ample), 'execution')
  const refused = refusedBy(entryPoint, op, first)
  if (refused !== undefined) return refused

  const { observed } = first
  const steps = { left: MEASURE_STEPS }
  const subject: Subject = { entryPoint, op, simulated: first, steps }
  const callGasLimit = await callLimit(
    subject,
    observed,
    'call',
    { ceiling: call, own: ownCall },
    (limit) => ({ ...ample, call: limit }),
  )
  const limits = { ...ample, call: callGasLimit }
  const realistic = await verifyRealistically(simulate, entryPoint, op, limits, first)
  const verificationGas = await verificationLimits(subject, realistic)
  const narrow = { ...limits, ...verificationGas }
  const isFixed = postOp !== verification
  const searched = (limit: bigint) =>
    entryPoint.hasPaymasterLimits
      ? { ...narrow, postOp: limit }
      : { ...narrow, verification: greatest(limit, narrow.verification) }
  const postOpGasLimit = isFixed
    ? postOp
    : await callLimit(subject, observed, 'postOp', { ceiling: verification }, searched)
  const { validAfter, validUntil } = validityOf(entryPoint, observed)
  return {
    outcome: 'measured',
    gas: {
      callGasLimit,
      verificationGasLimit: verificationGas.verification,
      paymasterVerificationGasLimit: verificationGas.paymasterVerification,
      verificationGasUsed: realistic.used,
      contextSize: realistic.simulated.observed.validated?.contextSize ?? 0,
      postOpGasLimit,
      validAfter,
      validUntil,
    },
  }
}

function refusedBy(
  entryPoint: EntryPoint,
  op: Operation,
  simulated: SimulatedOperation,
): MeasureResult | undefined {
  const { call, postOp, validated } = simulated.observed
  if (call?.success === false) return { outcome: 'reverted', revertData: call.revertData }
  if (postOp?.success === false) {
    return { outcome: 'refused', failure: postOpReverted(postOp.revertData) }
  }
  if (validated !== undefined && simulated.result.success) return undefined
  return { outcome: 'refused', failure: refusal(entryPoint, op, simulated) }
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

/** An operation whose limits are searched, on the state of a run that has been simulated. */
type Subject = {
  readonly entryPoint: EntryPoint
  readonly op: Operation
  readonly simulated: SimulatedOperation
  /** The steps that trials may still take. */
  readonly steps: { left: number }
}

/** One trial under `limits`; undefined when our EVM cannot run it. */
type Attempt = (limits: TrialLimits, extent: Extent) => Promise<Observation | undefined>

/**
 * Steps that the trials of one measurement may take together. An operation that uses up a transaction's
 * 16.7 million gas takes some 5 million in each of about ten trials.
 */
const MEASURE_STEPS = 3 * MAX_STEPS
/** A trial of so much gas takes milliseconds; others get their turn after it. */
const HEAVY_GAS = 1_000_000

/** The limit that `search` finds by trials on the state of the simulated run. */
function searchLimit(
  { entryPoint, op, simulated, steps }: Subject,
  search: (attempt: Attempt) => Promise<bigint>,
): Promise<bigint> {
  const likely = simulated.result.steps
  const inTurn = createRunner(likely > LIGHT_STEPS ? 'heavy' : 'light')
  const attempt = async (limited: Operation, extent: Extent) => {
    const most = Math.min(steps.left, MAX_STEPS)
    const simulation = await inTurn(most, (maxSteps) =>
      simulateOperation(simulated, entryPoint, limited, extent, {
        onMiss: 'guess',
        record: false,
        maxSteps,
      }),
    )
    steps.left -= stepsOf(simulation.outcome, likely, most)
    if (steps.left <= 0) throw new TooCostlyError('steps')
    return simulation
  }
  return settleSearch(simulated.readMore, (onMisses) =>
    search(async (limits, extent) => {
      const limited = withLimits(entryPoint, op, limits)
      const { outcome, observed } = await attempt(limited, extent)
      if (outcome.kind === 'missing') onMisses(outcome.misses)
      else if (outcome.kind !== 'done') return undefined
      if (outcome.kind === 'missing' || outcome.executionGas > HEAVY_GAS) await nextTurn()
      return observed
    }),
  )
}

/** The steps of a trial; `likely` where state was missing, all that it had where it ran out of them. */
function stepsOf(outcome: Outcome, likely: number, most: number): number {
  if (outcome.kind === 'done') return outcome.steps
  return outcome.kind === 'exhausted' ? most : likely
}

/** The smallest limit of the account's call or of postOp, in gas; 0 when the call is not made. */
async function callLimit(
  subject: Subject,
  observed: Observation,
  name: 'call' | 'postOp',
  bound: Pick<LimitSearch, 'ceiling' | 'own'>,
  limitsAt: (limit: bigint) => TrialLimits,
): Promise<bigint> {
  const ample = observed[name]
  if (ample === undefined) return 0n
  const used = BigInt(ample.gasUsed)
  const search = { ...bound, floor: used - 1n, guess: used, tolerance: tolerated(used) }
  return searchLimit(subject, (attempt) =>
    smallestLimit(search, async (limit) =>
      endsAs((await attempt(limitsAt(limit), 'execution'))?.[name], ample),
    ),
  )
}

function endsAs(end: CallEnd | undefined, ample: CallEnd): boolean {
  return end?.success === true && end.gasUsed + Number(HASH_NOISE) >= ample.gasUsed
}

/** Limits that suffice, and the verification under them. */
type Verification = {
  readonly limits: TrialLimits
  readonly simulated: SimulatedOperation
  /** Gas of verification, without preVerificationGas. */
  readonly used: bigint
}

/** Verification under limits close to its need; under `limits` when these do not suffice. */
async function verifyRealistically(
  simulate: Simulate,
  entryPoint: EntryPoint,
  op: Operation,
  limits: TrialLimits,
  first: SimulatedOperation,
): Promise<Verification> {
  const used = verificationUsed(first.observed, op) ?? 0n
  const likely = used + used / 16n + 4096n
  const closer = { ...limits, verification: likely, paymasterVerification: likely }
  const second = await simulate(withLimits(entryPoint, op, closer), 'validation')
  const usedNow = verificationUsed(second.observed, op)
  if (usedNow === undefined) return { limits, simulated: first, used }
  return { limits: closer, simulated: second, used: usedNow }
}

function verificationUsed({ validated }: Observation, op: Operation): bigint | undefined {
  return validated && validated.preOpGas - op.preVerificationGas
}

async function verificationLimits(
  { entryPoint, op, steps }: Subject,
  { limits, simulated, used }: Verification,
): Promise<Pick<TrialLimits, 'verification' | 'paymasterVerification'>> {
  const subject: Subject = { entryPoint, op, simulated, steps }
  const smallest = (
    search: Omit<LimitSearch, 'tolerance'>,
    limitsAt: (limit: bigint) => TrialLimits,
  ) =>
    searchLimit(subject, (attempt) =>
      smallestLimit({ ...search, tolerance: tolerated(search.floor) }, async (limit) => {
        const observed = await attempt(limitsAt(limit), 'validation')
        const usedNow = observed && verificationUsed(observed, op)
        return usedNow !== undefined && usedNow + HASH_NOISE >= used
      }),
    )
  const account = BigInt(simulated.observed.accountGas)
  const paymaster = BigInt(simulated.observed.paymasterGas)
  const isSeparate = hasPaymasterLimits(entryPoint, op)
  const verification = await smallest(
    {
      floor: account - 1n,
      ceiling: limits.verification,
      guess: isSeparate ? used - paymaster - PAYMASTER_OVERHEAD : used,
    },
    (limit) => ({ ...limits, verification: limit }),
  )
  if (!isSeparate) return { verification, paymasterVerification: 0n }
  const paymasterVerification = await smallest(
    {
      floor: paymaster - 1n,
      ceiling: limits.paymasterVerification,
      guess: paymaster + PAYMASTER_OVERHEAD,
    },
    (limit) => ({ ...limits, verification, paymasterVerification: limit }),
  )
  return { verification, paymasterVerification }
}

/** gas of the EntryPoint itself that paymasterVerificationGasLimit bounds too: for the first guess. */
const PAYMASTER_OVERHEAD = 9_700n

/** The tolerance (gas) of a search for a limit of a call that used this much. */
function tolerated(used: bigint): bigint {
  return used / 64n + 64n
}

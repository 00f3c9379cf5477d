import { greatest, smallest } from '../base/bigints.js'
import type { EntryPoint, Failure } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import type { GasBounds, MeasureResult } from './engine.js'
import type { CallEnd, Extent, Observation } from './inProcess/observeOperation.js'
import { validityOf } from './inProcess/simulatedOperation.js'
import type { LimitSearch } from './inProcess/smallestLimit.js'
import { postOpReverted } from './operationFailure.js'

/**
 * Gas by which two runs may differ since each limit gives the operation another hash, and what is recovered from it
 * takes another path: a Safe with Safe7579 takes one gas more with some hashes. Less than any access to state, so
 * that a call which was swallowed still shows.
 */
const HASH_NOISE = 64n

/** Gas limits of one trial. Those of the paymaster count where the version has them. */
export type TrialLimits = {
  /** Whether its fees are zero, so that the account pays nothing to the EntryPoint; absent = they are its own. */
  readonly isFree?: true
  /** Gas of verification in its prefund, where that is more than its limit: preVerificationGas has the rest. */
  readonly prefunded?: bigint
  readonly call: bigint
  readonly verification: bigint
  readonly paymasterVerification: bigint
  readonly postOp: bigint
}

/** `op` with the limits of a trial. */
export function withLimits(entryPoint: EntryPoint, op: Operation, limits: TrialLimits): Operation {
  const fees = limits.isFree ? { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n } : {}
  const { call: callGasLimit, verification: verificationGasLimit } = limits
  const preVerificationGas = preVerificationGasOf(op, limits)
  const limited = { ...op, ...fees, preVerificationGas, callGasLimit, verificationGasLimit }
  if (!hasPaymasterLimits(entryPoint, op)) return limited
  return {
    ...limited,
    paymasterVerificationGasLimit: limits.paymasterVerification,
    paymasterPostOpGasLimit: limits.postOp,
  }
}

function preVerificationGasOf(
  { preVerificationGas }: Operation,
  { verification, prefunded = verification }: TrialLimits,
): bigint {
  return preVerificationGas + greatest(prefunded - verification, 0n)
}

function hasPaymasterLimits(entryPoint: EntryPoint, op: Operation): boolean {
  return entryPoint.hasPaymasterLimits && op.paymaster !== undefined
}

/** The part of a run that a measurement needs. */
export type MeasuredRun = {
  readonly observed: Observation
  readonly success: boolean
  readonly output: Uint8Array
}

/** A search, by a name of its own, whose trials are judged by what is observed of them. */
export type TrialSearch = LimitSearch & {
  readonly kind: 'search'
  readonly name: string
  readonly extent: Extent
  readonly limitsAt: (limit: bigint) => TrialLimits
  readonly suffices: (observed: Observation, limit: bigint) => boolean
}

/** The runs from which searches begin; see `measureSteps`. */
export type RunName = 'ample' | 'likely' | 'free' | 'realistic'

type MeasureRun = {
  readonly kind: 'run'
  readonly name: RunName
  readonly limits: TrialLimits
  readonly extent: Extent
}

/** What was observed under limits. */
type Ground = { readonly observed: Observation; readonly limits: TrialLimits }

type LimitedRun = MeasuredRun & Ground

/** A run is answered by its end, a search by the limit that it found. */
type Steps<Result> = Generator<MeasureRun | TrialSearch, Result, MeasuredRun | bigint>

type Subject = {
  readonly entryPoint: EntryPoint
  readonly op: Operation
  /** The failure in what handleOps returned. */
  readonly refuse: (output: Uint8Array) => Failure
}

/**
 * Gas limits by search, whatever runs the operation. Ample limits come first; each limit is then narrowed by trials. A
 * limit suffices only if the trial uses as much gas as under ample limits (within HASH_NOISE): a trial that
 * uses less has swallowed a call that ran out of gas. Each limit lies at most 1.6 % (and 64 gas) above the
 * smallest.
 *
 * The second run has limits close to the need of verification and call, as the first run shows it: our EVM reports the
 * least gas of the call, and what the EntryPoint's checks of verification compare. These limits are mostly the answer, and
 * two runs suffice. Whether an account must pay a prefund depends on its limits, so where no paymaster pays, the prefund of
 * the second run is about as large as that of the estimate will be. Two more follow where the account pays only under ample limits. On
 * a node nobody sees the checks, nor with a paymaster in v0.6: there the second run's limit of verification is loose, and
 * further runs narrow it. The limits in `op` are ignored; `bounds.postOp` is kept as it is.
 */
export function* measureSteps(subject: Subject, bounds: GasBounds): Steps<MeasureResult> {
  const { entryPoint } = subject
  const { call, verification, ownCall, postOp = verification } = bounds
  const ample = { call, verification, paymasterVerification: verification, postOp }
  const first = yield* run('ample', ample, 'execution')
  const refused = refusedBy(subject, first)
  if (refused !== undefined) return refused

  const { observed } = first
  const likely = likelyLimits(subject, first)
  const second = yield* run('likely', likely, 'execution')
  const isValid = second.observed.validated !== undefined
  const tried = isValid ? { limit: likely.call, end: second.observed.call } : undefined
  const bound = { ceiling: call, own: ownCall, tried }
  const ground = yield* comparedRun(subject, first, second)
  const callGasLimit = yield* callLimit(ground.observed, 'call', bound, (limit) => ({
    ...ground.limits,
    call: limit,
  }))
  const limits = { ...ample, call: callGasLimit }
  const isAnswer = callGasLimit <= likely.call && validatesAs(subject, second, ground)
  const realistic = isAnswer
    ? verificationOf(subject, second)
    : yield* looseVerification(subject, limits, first)
  const verificationGas = yield* verificationLimits(subject, realistic)
  const narrow = { ...limits, ...verificationGas }
  const isFixed = postOp !== verification
  const searched = (limit: bigint) =>
    entryPoint.hasPaymasterLimits
      ? { ...narrow, postOp: limit }
      : { ...narrow, verification: greatest(limit, narrow.verification) }
  const postOpGasLimit = isFixed
    ? postOp
    : yield* callLimit(observed, 'postOp', { ceiling: verification }, searched)
  const { validAfter, validUntil } = validityOf(entryPoint, observed)
  return {
    outcome: 'measured',
    gas: {
      callGasLimit,
      verificationGasLimit: verificationGas.verification,
      paymasterVerificationGasLimit: verificationGas.paymasterVerification,
      verificationGasUsed: realistic.used,
      contextSize: realistic.observed.validated?.contextSize ?? 0,
      postOpGasLimit,
      validAfter,
      validUntil,
    },
  }
}

function* run(name: MeasureRun['name'], limits: TrialLimits, extent: Extent): Steps<LimitedRun> {
  const measured = (yield { kind: 'run', name, limits, extent }) as MeasuredRun
  return { ...measured, limits }
}

function* search(wanted: Omit<TrialSearch, 'kind'>): Steps<bigint> {
  return (yield { kind: 'search', ...wanted }) as bigint
}

function refusedBy({ refuse }: Subject, run: MeasuredRun): MeasureResult | undefined {
  const { call, postOp, validated } = run.observed
  if (call?.success === false) return { outcome: 'reverted', revertData: call.revertData }
  if (postOp?.success === false) {
    return { outcome: 'refused', failure: postOpReverted(postOp.revertData) }
  }
  if (validated !== undefined && run.success) return undefined
  return { outcome: 'refused', failure: refuse(run.output) }
}

/** The limit of a call that a run has tried, and how the call ended. */
type TriedCall = { readonly limit: bigint; readonly end: CallEnd | undefined }

/**
 * The run with which trials are compared: the ample one, unless validation took another path
 * once limits were close. An account that pays the prefund, as it must under ample limits, has touched what its call
 * touches again; where its deposit suffices, the call pays for cold slots (a Safe: 2,000 gas).
 */
function* comparedRun(subject: Subject, first: LimitedRun, second: LimitedRun): Steps<Ground> {
  if (!paysLess(subject, first, second)) return first
  const free = yield* run('free', { ...first.limits, isFree: true }, 'execution')
  // A contract may refuse to work for nothing.
  return free.observed.call?.success ? free : first
}

/** Whether the account pays in the first run alone; where that is not seen, less gas of verification shows it. */
function paysLess({ op }: Subject, first: Ground, second: Ground): boolean {
  if (op.paymaster !== undefined) return false
  const [before, after] = [first, second].map(({ observed }) => observed.missingAccountFunds)
  if (before !== undefined && after !== undefined) return before > 0n && after === 0n
  const [used = 0n, usedAfter = 0n] = [first, second].map((each) => verificationUsed(op, each))
  return used - usedAfter > HASH_NOISE
}

/** The smallest limit of the account's call or of postOp, in gas; 0 when the call is not made. */
function* callLimit(
  observed: Observation,
  name: 'call' | 'postOp',
  {
    ceiling,
    own,
    tried,
  }: Pick<LimitSearch, 'ceiling' | 'own'> & { readonly tried?: TriedCall | undefined },
  limitsAt: (limit: bigint) => TrialLimits,
): Steps<bigint> {
  const ample = observed[name]
  if (ample === undefined) return 0n
  const needed = neededBy(ample)
  const tolerance = tolerated(needed)
  const sufficed = tried !== undefined && endsAs(tried.end, ample)
  const floor = greatest(needed - 1n, tried && !sufficed ? tried.limit : 0n)
  return yield* search({
    own,
    name,
    floor,
    ceiling: tried && sufficed ? tried.limit : ceiling,
    guess: floor + tolerance,
    tolerance,
    extent: 'execution',
    limitsAt,
    suffices: (trial) => endsAs(trial[name], ample),
  })
}

function neededBy({ gasUsed, gasNeeded = gasUsed }: CallEnd): bigint {
  return BigInt(gasNeeded)
}

function endsAs(end: CallEnd | undefined, ample: CallEnd): boolean {
  return end?.success === true && end.gasUsed + Number(HASH_NOISE) >= ample.gasUsed
}

/** Limits that suffice, and the verification under them. */
type Verification = Ground & {
  /** Gas of verification, without preVerificationGas. */
  readonly used: bigint
}

/** Limits close to the need of verification and call, as they are under ample limits. */
function likelyLimits(subject: Subject, first: LimitedRun): TrialLimits {
  const { observed, limits: ample } = first
  const called = observed.call ? neededBy(observed.call) : 0n
  const call = observed.call ? smallest(called - 1n + tolerated(called), ample.call) : 0n
  const loose = looseLimits(subject, { ...ample, call }, first)
  const seen = seenBounds(subject, first)
  if (seen === undefined) return loose
  const { account, paymaster = account } = seen
  return {
    ...loose,
    verification: smallest(account.guess, ample.verification),
    paymasterVerification: smallest(paymaster.guess, ample.verification),
  }
}

/**
 * Limits under which verification has more than enough gas, though little: about as much as an estimate adds. Trials with
 * less keep the prefund of an account that pays.
 */
function looseLimits({ op }: Subject, limits: TrialLimits, first: Ground): TrialLimits {
  const used = verificationUsed(op, first) ?? 0n
  const loose = used + used / 16n + 4096n
  const prefund = op.paymaster === undefined ? { prefunded: loose } : {}
  return { ...limits, ...prefund, verification: loose, paymasterVerification: loose }
}

/** Verification under loose limits; under ample ones when those do not suffice. */
function* looseVerification(
  subject: Subject,
  limits: TrialLimits,
  first: LimitedRun,
): Steps<Verification> {
  const loose = looseLimits(subject, limits, first)
  const measured = yield* run('realistic', loose, 'validation')
  return verificationOf(subject, measured.observed.validated ? measured : { ...first, limits })
}

function verificationOf({ op }: Subject, { limits, observed }: Ground): Verification {
  return { limits, observed, used: verificationUsed(op, { limits, observed }) ?? 0n }
}

/** Whether verification uses as much gas in a trial as in the run with which it is compared. */
function validatesAs({ op }: Subject, trial: Ground, ground: Ground): boolean {
  const [used, ample = 0n] = [trial, ground].map((each) => verificationUsed(op, each))
  return used !== undefined && used + HASH_NOISE >= ample
}

function verificationUsed(op: Operation, { observed, limits }: Ground): bigint | undefined {
  const { validated } = observed
  return validated && validated.preOpGas - preVerificationGasOf(op, limits)
}

/** A limit that does not suffice, and one that likely does. */
type LimitBounds = Pick<LimitSearch, 'floor' | 'guess'>

/** What a run says about the least limits of verification. */
type VerificationBounds = {
  readonly account: LimitBounds
  /** Absent where the paymaster has no limit of its own. */
  readonly paymaster?: LimitBounds
}

/** The bounds by what the EntryPoint reads of its gas; undefined where that is not known, or is not what it compares. */
function seenBounds({ entryPoint, op }: Subject, run: Ground): VerificationBounds | undefined {
  const { accountCheck, paymasterCheck } = run.observed
  if (accountCheck === undefined) return undefined
  if (op.paymaster === undefined) {
    return { account: entryPoint.hasPaymasterLimits ? above(accountCheck) : aroundUse(op, run) }
  }
  if (!entryPoint.hasPaymasterLimits || paymasterCheck === undefined) return undefined
  return { account: above(accountCheck), paymaster: above(paymasterCheck) }
}

function verificationBounds(subject: Subject, run: Ground): VerificationBounds {
  const { entryPoint, op } = subject
  const seen = seenBounds(subject, run)
  if (seen !== undefined) return seen
  if (!hasPaymasterLimits(entryPoint, op)) return { account: aroundUse(op, run) }
  const used = verificationUsed(op, run) ?? 0n
  const account = BigInt(run.observed.accountGas)
  const paymaster = BigInt(run.observed.paymasterGas)
  return {
    account: { floor: account - 1n, guess: used - paymaster - PAYMASTER_OVERHEAD },
    paymaster: { floor: paymaster - 1n, guess: paymaster + PAYMASTER_OVERHEAD },
  }
}

/** The bounds of a limit that is compared shortly before the EntryPoint notes the gas of verification. */
function aroundUse(op: Operation, run: Ground): LimitBounds {
  const used = verificationUsed(op, run) ?? 0n
  const floor = greatest(BigInt(run.observed.accountGas) - 1n, used - END_OF_VALIDATION)
  return { floor, guess: used }
}

/** The bounds of a limit that is at least so much gas, and no more in a run with another hash. */
function above(least: number): LimitBounds {
  return { floor: BigInt(least) - 1n, guess: BigInt(least) + HASH_NOISE }
}

function* verificationLimits(
  subject: Subject,
  realistic: Verification,
): Steps<Pick<TrialLimits, 'verification' | 'paymasterVerification'>> {
  const { limits, used } = realistic
  const smallestOf = (
    wanted: Pick<TrialSearch, 'name' | 'floor' | 'ceiling' | 'guess' | 'limitsAt'>,
  ) =>
    search({
      ...wanted,
      tolerance: tolerated(wanted.floor),
      extent: 'validation',
      suffices: (observed, limit) => {
        const trial = { observed, limits: wanted.limitsAt(limit) }
        const usedNow = verificationUsed(subject.op, trial)
        return usedNow !== undefined && usedNow + HASH_NOISE >= used
      },
    })
  const { account, paymaster } = verificationBounds(subject, realistic)
  const verification = yield* smallestOf({
    ...account,
    name: 'verification',
    ceiling: limits.verification,
    limitsAt: (limit) => ({ ...limits, verification: limit }),
  })
  if (paymaster === undefined) return { verification, paymasterVerification: 0n }
  const paymasterVerification = yield* smallestOf({
    ...paymaster,
    name: 'paymasterVerification',
    ceiling: limits.paymasterVerification,
    limitsAt: (limit) => ({ ...limits, verification, paymasterVerification: limit }),
  })
  return { verification, paymasterVerification }
}

/** gas of the EntryPoint itself that paymasterVerificationGasLimit bounds too: for a guess where its checks are not seen. */
const PAYMASTER_OVERHEAD = 9_700n

/**
 * More gas than an EntryPoint takes between its check of verificationGasLimit (AA26, AA40 in v0.6) and the gas of verification that it
 * notes: without a paymaster that has a limit of its own, so much less does not suffice.
 */
const END_OF_VALIDATION = 512n

/** The tolerance (gas) of a search for a limit of a call that used this much. */
function tolerated(used: bigint): bigint {
  return used / 64n + 64n
}

import { OperationLimitError } from '../../base/errors/operationErrors.js'
import { CannotSimulateError, TooCostlyError } from '../../base/errors/simulationErrors.js'
import type { Accesses, AccessHints } from '../../chain/accessPrediction.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import type { KnownBlock, StateProvider, WithState } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { splitValidationData } from '../../erc4337/validationData.js'
import { type Fork, forks, type State, type Touched, trackState } from '../../evm/index.js'
import { assetMoves } from '../assetMoves.js'
import type { Engine, Inspecting, Inspection, StateOverride, Validation } from '../engine.js'
import { mergeOverrides } from '../evmOverrides.js'
import { aggregated } from '../operationFailure.js'
import { fundsOn } from '../payerFunds.js'
import { readSetOf } from '../readSet.js'
import type { OperationRuns, RunParty } from '../simulations.js'
import { stateBefore } from '../stateBefore.js'
import { takeWitness, type WitnessedRun } from '../witness.js'
import { accessHintsOf } from './accessHintsOf.js'
import type { Measured } from './measureOperation.js'
import { observeRecord } from './observeRecord.js'
import type { OperationRun, RunTask } from './runOperation.js'
import { refusal, validationOf } from './simulatedOperation.js'
import { handleOpsCall, pretendedParts, stateFor } from './simulateOperation.js'

type InProcessContext = RunParty & { readonly state: StateProvider }

/**
 * An engine that runs operations of any EntryPoint version in our own EVM, on the EntryPoint's real
 * code: the very handleOps that a bundle would call. Nothing is asked of a node but plain state. Throws
 * CannotSimulateError for an operation that needs what the EVM does not have or that costs too much; a
 * node may still be able to run it.
 *
 * An apparent refusal is checked once more on the newest state: the client that sent the operation may
 * have seen a block that we have not.
 */
export function createInProcessEngine(context: InProcessContext): Engine & Inspecting {
  const { state } = context
  const known = createEngineOn(state.withState, context)
  const newest = () => createEngineOn(state.withNewestState, context)
  return {
    async validate(...request) {
      const result = await known.validate(...request)
      if (result.ok && !signatureFailed(result.validation)) return result
      return newest().validate(...request)
    },
    async execute(...request) {
      const result = await known.execute(...request)
      return result.ok && result.success ? result : newest().execute(...request)
    },
    async measure(...request) {
      const result = await known.measure(...request)
      return result.outcome === 'measured' ? result : newest().measure(...request)
    },
    async inspect(...request) {
      const result = await known.inspect(...request)
      return result.ok && result.success ? result : newest().inspect(...request)
    },
    witness: (...request) => newest().witness(...request),
  }
}

type RunContext = RunParty & { readonly withState: WithState }

function signatureFailed(validation: Validation): boolean {
  return validation.accountSignatureFailed || validation.paymasterSignatureFailed
}

/** An engine on the state that `withState` provides, without a second check of refusals. */
export function createEngineOn(withState: WithState, party: RunParty): Engine & Inspecting {
  const { simulations, requester } = party
  const context = { withState, simulations, requester }
  return {
    async validate(entryPoint, op, override) {
      const task = { kind: 'run', op, extent: 'validation', wantsRecord: true } as const
      const once = await runOnce(context, entryPoint, task, override)
      const { run, state, known, tracked } = once
      const { accountData, validated } = run.observed
      const witness = () => witnessOf(once, entryPoint, task, override)
      if (validated === undefined) {
        return { ok: false, failure: refusal(entryPoint, op, run.output, state), witness }
      }
      const { authorizer } = splitValidationData(accountData ?? 0n)
      if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer), witness }
      if (run.record === undefined) throw new TooCostlyError('memory for its record')
      const recorded = {
        record: run.record,
        state,
        fork: known.block.fork,
        blockHash: known.head.hash,
      }
      const { prefund } = validated
      const { root } = run.record
      const observed = observeRecord(entryPoint, op, recorded)
      const before = stateBefore(tracked.state, entryPoint, op)
      const touched = [run.touched, tracked.touched]
      const reads = { entryPoint, op, prefund, root, touched }
      const validation = {
        ...validationOf(entryPoint, run.observed, validated, op),
        before,
        observed: { ...observed, readSet: override ? undefined : readSetOf(known, reads) },
      }
      return { ok: true, validation, witness }
    },

    async execute(entryPoint, op, override) {
      const task = { kind: 'run', op, extent: 'execution', wantsRecord: false } as const
      const { run, state } = await runOnce(context, entryPoint, task, override)
      const { observed, outcome } = run
      if (observed.validated === undefined || outcome === undefined) {
        return { ok: false, failure: refusal(entryPoint, op, run.output, state) }
      }
      const validation = validationOf(entryPoint, observed, observed.validated, op)
      const { success, reason: revertData, actualGasUsed } = outcome
      return { ok: true, validation, success, revertData, actualGasUsed }
    },

    async measure(entryPoint, op, bounds, override = {}) {
      const hints = accessHintsOf(entryPoint, op, 'execution')
      const kind = `measure ${kindOf(hints)}`
      const task = { kind: 'measure', op, bounds } as const
      let runs: { readonly on: KnownBlock; readonly simulation: OperationRuns } | undefined
      const { result, known } = await withState<Measured>(hints, async (known, reads) => {
        if (runs?.on !== known) {
          const funds = fundsOn(known, entryPoint, op)
          if (funds.kind === 'missing') return funds
          const pretended = mergeOverrides(funds.override, override)
          const simulation = simulations.begin({ requester, entryPoint, override: pretended, kind })
          runs = { on: known, simulation }
        }
        return runs.simulation.measure(known, reads, task)
      })
      requireRunnable(entryPoint, op, known, stateFor(known, op, override))
      const { measured } = result
      if (measured.outcome !== 'measured') return measured
      return { ...measured, gas: { ...measured.gas, before: stateBefore(known, entryPoint, op) } }
    },

    inspect: (entryPoint, op) => inspect(context, entryPoint, op),

    async witness(entryPoint, op, override) {
      const task = { kind: 'run', op, extent: 'execution', wantsRecord: false } as const
      const once = await runOnce(context, entryPoint, task, override)
      return witnessOf(once, entryPoint, task, override)
    },
  }
}

/** See `Inspecting`. */
async function inspect(
  context: RunContext,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<Inspection> {
  const task = { kind: 'run', op, extent: 'execution', wantsRecord: true } as const
  const override = await fundedOverride(context.withState, entryPoint, op)
  const { run, state, known } = await runOnce(context, entryPoint, task, override)
  const { observed, outcome, record, logs } = run
  if (observed.validated === undefined || outcome === undefined) {
    return { ok: false, failure: refusal(entryPoint, op, run.output, state) }
  }
  if (record === undefined) throw new TooCostlyError('memory for its record')
  const moves = assetMoves(record.root, logs, entryPoint.address)
  if (moves.length > MOST_MOVES)
    throw new CannotSimulateError(`it moves assets more than ${MOST_MOVES} times`)
  const { success, reason: revertData, actualGasUsed } = outcome
  const gas = (end: { readonly gasUsed: number } | undefined) => BigInt(end?.gasUsed ?? 0)
  const phases = {
    preOp: observed.validated.preOpGas,
    account: BigInt(observed.accountGas),
    paymaster: BigInt(observed.paymasterGas),
    call: gas(observed.call),
    postOp: gas(observed.postOp),
  }
  const { contextSize } = observed.validated
  const { hash: blockHash } = known.head
  const { baseFee } = known.block
  const ended = { success, revertData, actualGasUsed }
  return { ok: true, ...ended, phases, contextSize, moves, blockHash, baseFee }
}

/** Moves of assets that are looked at: a batch of hundreds fits, and an answer has some 200 kB at most. */
const MOST_MOVES = 500

/** The override of `fundsOn`, on the state that `withState` gives. */
async function fundedOverride(
  withState: WithState,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<StateOverride> {
  type Funded = Accesses & { readonly kind: 'done'; readonly override: StateOverride }
  const hints = accessHintsOf(entryPoint, op, 'execution')
  const { result } = await withState<Funded>(hints, async (known) => {
    const funds = fundsOn(known, entryPoint, op)
    if (funds.kind === 'missing') return funds
    const { touched } = trackState(known)
    return { kind: 'done', override: funds.override, touched, preimages: [] }
  })
  return result.override
}

type OnceRun = {
  readonly run: OperationRun
  /** The state that it ran on, and the block whose state that is. */
  readonly state: State
  readonly known: KnownBlock
  /** That block's own state, which notes what is asked of it after the run. */
  readonly tracked: { readonly state: State; readonly touched: Touched }
}

/** What repeats the run of an operation. */
function witnessOf(
  { run: { touched, blockHashes }, known }: Pick<OnceRun, 'run' | 'known'>,
  entryPoint: EntryPoint,
  { op, extent }: RunTask,
  override: StateOverride | undefined,
): WitnessedRun {
  const message = handleOpsCall(entryPoint, op, known.block)
  const pretended = pretendedParts(op, override)
  const on = { block: known.block, state: stateFor(known, op, override) }
  return takeWitness(on, { entryPoint, extent, message, touched, blockHashes, pretended })
}

/** Runs an operation until no state is missing; the last run is the one that counts. */
async function runOnce(
  { withState, simulations, requester }: RunContext,
  entryPoint: EntryPoint,
  task: RunTask,
  override: StateOverride = {},
): Promise<OnceRun> {
  const { op, extent } = task
  const hints = accessHintsOf(entryPoint, op, extent)
  const simulation = simulations.begin({ requester, entryPoint, override, kind: kindOf(hints) })
  const { result, known } = await withState(hints, (known, reads) =>
    simulation.run(known, reads, task),
  )
  const tracked = trackState(known)
  const state = stateFor(tracked.state, op, override)
  requireRunnable(entryPoint, op, known, state)
  return { run: result, state, known, tracked }
}

/** Operations of one sender that call the same contracts cost similar work. */
function kindOf({ names: [name], sender }: AccessHints): string {
  return `${name} ${sender}`
}

function requireRunnable(
  entryPoint: EntryPoint,
  op: Operation,
  { block }: KnownBlock,
  state: State,
): void {
  requireEntryPoint(state, entryPoint)
  requireDelegations(block.fork, op)
}

/** A node of an older chain would never take the transaction that carries an authorization. */
function requireDelegations(fork: Fork, { authorization }: Operation): void {
  if (authorization === undefined || forks.indexOf(fork) >= forks.indexOf('prague')) return
  throw new OperationLimitError('eip7702Auth', 'this chain does not know EIP-7702 yet')
}

function requireEntryPoint(state: State, { address }: EntryPoint): void {
  if (state.account(address)?.code.length !== 0) return
  throw new NodeUnavailableError(`no EntryPoint is deployed at ${address}`)
}

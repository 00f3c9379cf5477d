import { BlockGone } from '../../chain/blockReads.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import type { StateProvider, WithState } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { splitValidationData } from '../../entrypoint/validationData.js'
import { OperationLimitError } from '../../errors/operationErrors.js'
import { TooCostlyError } from '../../errors/simulationErrors.js'
import { type Fork, forks, type State } from '../../evm/index.js'
import type { Engine, StateOverride, Validation } from '../engine.js'
import { aggregated } from '../refusals.js'
import { accessHintsOf } from './accessHintsOf.js'
import { createRunner } from './createRunner.js'
import { measureOperation } from './measureOperation.js'
import type { Extent, Observation } from './observeOperation.js'
import { observeRecord, type RecordedExecution } from './observeRecord.js'
import { outcomeOf, refusal, type SimulatedOperation, validationOf } from './simulatedOperation.js'
import {
  MAX_STEPS,
  type SimulationState,
  simulateOperation,
  stateFor,
} from './simulateOperation.js'

/**
 * An engine that runs operations of any EntryPoint version in our own EVM, on the EntryPoint's real
 * code: the very handleOps that a bundle would call. Nothing is asked of a node but plain state. Throws
 * CannotSimulateError for an operation that needs what the EVM does not have or that costs too much; a
 * node may still be able to run it.
 *
 * An apparent refusal is checked once more on the newest state: the client that sent the operation may
 * have seen a block that we have not.
 */
export function createInProcessEngine({ state }: { readonly state: StateProvider }): Engine {
  const known = createEngineOn(state.withState)
  const newest = createEngineOn(state.withNewestState)
  return {
    async validate(...request) {
      const result = await known.validate(...request)
      if (result.ok && !signatureFailed(result.validation)) return result
      return newest.validate(...request)
    },
    async execute(...request) {
      const result = await known.execute(...request)
      return result.ok && result.success ? result : newest.execute(...request)
    },
    async measure(...request) {
      const result = await known.measure(...request).catch(blockGone)
      if (result?.outcome === 'measured') return result
      return (await newest.measure(...request).catch(blockGone)) ?? newest.measure(...request)
    },
  }
}

/** Undefined when the block of a search was replaced before all was read of it. */
function blockGone(error: unknown): undefined {
  if (!(error instanceof BlockGone)) throw error
}

function signatureFailed(validation: Validation): boolean {
  return validation.accountSignatureFailed || validation.paymasterSignatureFailed
}

/** An engine on the state that `withState` provides, without a second check of refusals. */
export function createEngineOn(withState: WithState): Engine {
  return {
    async validate(entryPoint, op, override) {
      const simulated = await simulate(withState, entryPoint, op, 'validation', override)
      const { accountData, validated } = simulated.observed
      if (validated === undefined) {
        return { ok: false, failure: refusal(entryPoint, op, simulated) }
      }
      const { authorizer } = splitValidationData(accountData ?? 0n)
      if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer) }
      const validation = {
        ...validationOf(entryPoint, simulated.observed, validated, op),
        observed: observeRecord(entryPoint, op, recordedExecution(simulated)),
      }
      return { ok: true, validation }
    },

    async execute(entryPoint, op, override) {
      const simulated = await simulate(withState, entryPoint, op, 'execution', override)
      const { observed, result } = simulated
      const outcome = outcomeOf(entryPoint, result)
      if (observed.validated === undefined || outcome === undefined) {
        return { ok: false, failure: refusal(entryPoint, op, simulated) }
      }
      const validation = validationOf(entryPoint, observed, observed.validated, op)
      return { ok: true, validation, success: outcome.success, revertData: outcome.reason }
    },

    measure(entryPoint, op, bounds, override) {
      const simulateLimited = async (limited: Operation, extent: Extent) =>
        withoutRecord(await simulate(withState, entryPoint, limited, extent, override))
      return measureOperation(simulateLimited, entryPoint, op, bounds)
    },
  }
}

/** Runs `op` in turn until no state is missing; the last run is the one that counts. */
async function simulate(
  withState: WithState,
  entryPoint: EntryPoint,
  op: Operation,
  extent: Extent,
  override?: StateOverride,
): Promise<SimulatedOperation> {
  let last: (SimulationState & { readonly observed: Observation }) | undefined
  const hints = accessHintsOf(entryPoint, op, extent)
  const inTurn = createRunner('light')
  const { result, view, readMore } = await withState(hints, async (known, { block }) => {
    const simulationState = { block, state: stateFor(known, op, override) }
    const { outcome, observed } = await inTurn(MAX_STEPS, (maxSteps) =>
      simulateOperation(simulationState, entryPoint, op, extent, {
        onMiss: 'guess',
        record: true,
        maxSteps,
      }),
    )
    last = { ...simulationState, observed }
    return outcome
  })
  if (last === undefined) throw new Error('no operation was run')
  requireEntryPoint(last.state, entryPoint)
  requireDelegations(last.block.fork, op)
  return { result, ...last, blockHash: view.head.hash, readMore }
}

/** A search keeps its first runs for long, and nobody judges them. */
function withoutRecord(simulated: SimulatedOperation): SimulatedOperation {
  return { ...simulated, result: { ...simulated.result, record: undefined } }
}

function recordedExecution(simulated: SimulatedOperation): RecordedExecution {
  const { result, state, block, blockHash } = simulated
  if (result.record === undefined) throw new TooCostlyError('memory for its record')
  return { record: result.record, state, fork: block.fork, blockHash }
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

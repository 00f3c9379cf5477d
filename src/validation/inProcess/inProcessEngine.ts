import { BlockGone } from '../../chain/blockReads.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import type { RunOnState, StateProvider } from '../../chain/stateProvider.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { splitValidationData } from '../../entrypoint/validationData.js'
import { OperationLimitError } from '../../errors/operationErrors.js'
import { type Fork, forks, type State } from '../../evm/index.js'
import type { Engine, StateOverride, Validation } from '../engine.js'
import { aggregated } from '../refusals.js'
import { measureOperation } from './measureOperation.js'
import type { Extent, Observation } from './observeOperation.js'
import { observeRun, type RecordedRun } from './observeRun.js'
import { outcomeOf, readValidation, refusal, type SimulatedOperation } from './readSimulation.js'
import { kindOf } from './runKind.js'
import { type SimulationState, simulateOperation, stateFor } from './simulateOperation.js'

/**
 * Runs operations of any EntryPoint version in our own EVM, on the EntryPoint's real code: the very
 * handleOps that a bundle would call. Nothing is asked of a node but plain state. Throws
 * CannotSimulateError for what the EVM does not have or what costs too much; a node can still say.
 *
 * What looks like a refusal is run again on the newest state: the one who sent the operation may have
 * seen a block that we have not.
 */
export function createInProcessEngine({ state }: { readonly state: StateProvider }): Engine {
  const known = createEngineOn(state.run)
  const newest = createEngineOn(state.runNewest)
  return {
    async validate(...asked) {
      const result = await known.validate(...asked)
      if (result.ok && !signatureFailed(result.validation)) return result
      return newest.validate(...asked)
    },
    async execute(...asked) {
      const result = await known.execute(...asked)
      return result.ok && result.success ? result : newest.execute(...asked)
    },
    async measure(...asked) {
      const result = await known.measure(...asked).catch(blockGone)
      if (result?.outcome === 'measured') return result
      return (await newest.measure(...asked).catch(blockGone)) ?? newest.measure(...asked)
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

/** The same on the state that `runOnState` finds, without a second look. */
export function createEngineOn(runOnState: RunOnState): Engine {
  async function run(
    entryPoint: EntryPoint,
    op: Operation,
    extent: Extent,
    override?: StateOverride,
  ): Promise<SimulatedOperation> {
    let last: { observed: Observation; stage: SimulationState } | undefined
    const { result, view, readMore } = await runOnState(
      kindOf(entryPoint, op, extent),
      (known, { block }) => {
        const stage = { block, state: stateFor(known, op, override) }
        const how = { onMiss: 'guess', record: true } as const
        const { outcome, observed } = simulateOperation(stage, entryPoint, op, extent, how)
        last = { observed, stage }
        return outcome
      },
    )
    if (last === undefined) throw new Error('nothing was run')
    requireEntryPoint(last.stage.state, entryPoint)
    requireDelegations(last.stage.block.fork, op)
    return { result, ...last, blockHash: view.head.hash, readMore }
  }

  return {
    async validate(entryPoint, op, override) {
      const rehearsed = await run(entryPoint, op, 'validation', override)
      const { accountData, validated } = rehearsed.observed
      if (validated === undefined) {
        return { ok: false, failure: refusal(entryPoint, op, rehearsed) }
      }
      const { authorizer } = splitValidationData(accountData ?? 0n)
      if (BigInt(authorizer) > 1n) return { ok: false, failure: aggregated(authorizer) }
      const validation = {
        ...readValidation(rehearsed.observed, validated, op),
        observed: observeRun(entryPoint, op, recordedRun(rehearsed)),
      }
      return { ok: true, validation }
    },

    async execute(entryPoint, op, override) {
      const rehearsed = await run(entryPoint, op, 'execution', override)
      const { observed, result } = rehearsed
      const outcome = outcomeOf(entryPoint, result)
      if (observed.validated === undefined || outcome === undefined) {
        return { ok: false, failure: refusal(entryPoint, op, rehearsed) }
      }
      const validation = readValidation(observed, observed.validated, op)
      return { ok: true, validation, success: outcome.success, revertData: outcome.reason }
    },

    measure(entryPoint, op, bounds, override) {
      const runLimited = (limited: Operation, extent: Extent) =>
        run(entryPoint, limited, extent, override)
      return measureOperation(runLimited, entryPoint, op, bounds)
    },
  }
}

function recordedRun({ result: { record }, stage, blockHash }: SimulatedOperation): RecordedRun {
  if (record === undefined) throw new Error('the run was not recorded')
  return { record, state: stage.state, fork: stage.block.fork, blockHash }
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

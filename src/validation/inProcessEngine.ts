import { NodeUnavailableError } from '../chain/nodeErrors.js'
import type { StateProvider } from '../chain/stateProvider.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { splitValidationData } from '../entrypoint/validationData.js'
import type { State } from '../evm/index.js'
import type { Engine, StateOverride } from './engine.js'
import { measureOperation } from './measureOperation.js'
import type { Extent, Observation } from './observeOperation.js'
import { outcomeOf, type Rehearsed, readValidation, refusal } from './readRehearsal.js'
import { aggregated } from './refusals.js'
import { rehearse, type Stage, stateFor } from './rehearse.js'
import { kindOf } from './runKind.js'

/**
 * Runs operations of any EntryPoint version in our own EVM, on the EntryPoint's real code: the very
 * handleOps that a bundle would call. Nothing is asked of a node but plain state. Throws
 * CannotSimulateError for what the EVM does not have or what costs too much; a node can still say.
 */
export function createInProcessEngine({ state }: { readonly state: StateProvider }): Engine {
  async function run(
    entryPoint: EntryPoint,
    op: Operation,
    extent: Extent,
    override?: StateOverride,
  ): Promise<Rehearsed> {
    let last: { observed: Observation; stage: Stage } | undefined
    const { result } = await state.run(kindOf(entryPoint, op, extent), (known, { block }) => {
      const stage = { block, state: stateFor(known, op, override) }
      const how = { onMiss: 'guess', record: true } as const
      const { outcome, observed } = rehearse(stage, entryPoint, op, extent, how)
      last = { observed, stage }
      return outcome
    })
    if (last === undefined) throw new Error('nothing was run')
    requireEntryPoint(last.stage.state, entryPoint)
    return { result, ...last }
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
      return { ok: true, validation: readValidation(rehearsed.observed, validated, op) }
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

function requireEntryPoint(state: State, { address }: EntryPoint): void {
  if (state.account(address)?.code.length !== 0) return
  throw new NodeUnavailableError(`no EntryPoint is deployed at ${address}`)
}

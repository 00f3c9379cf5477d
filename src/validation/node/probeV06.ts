import type { Address, Hex } from 'viem'
import { decodeErrorResult, decodeFunctionResult, getAbiItem, toFunctionSelector } from 'viem/utils'
import type { StateOverride } from '../../chain/stateOverride.js'
import { abi, runtime } from '../../contracts/generated/Probe06.js'
import { encodeTuple, uintWord } from '../../encoding/abiWriter.js'
import type { Operation } from '../../entrypoint/operation.js'
import { encodeUserOperationV06 } from '../../entrypoint/userOperationV06.js'
import type { GasBounds } from '../engine.js'
import { mergeOverrides } from '../mergeOverrides.js'

/** The address at which contracts/Probe06.sol expects the EntryPoint's code. */
const ORIGINAL_AT: Address = '0x000070757273657220656e74727920706f696e74'

const measureSelector = toFunctionSelector(getAbiItem({ abi, name: 'measure' }))
const probeErrors = new Set<string>(
  ['CallReverted(bytes)', 'PostOpReverted(bytes)', 'OutOfGas()'].map(toFunctionSelector),
)

/** Bounds of the smallest gas limit: `floor` does not suffice, `ceiling` does; 0 = not known. */
export type Bracket = { readonly floor: bigint; readonly ceiling: bigint; readonly used: bigint }

/** Calldata that asks the probe, as the target call of simulateHandleOp, how the call ended. */
export const outcomeCall: Hex = toFunctionSelector(getAbiItem({ abi, name: 'outcome' }))

/** The end of the call, as the probe's `outcome` returned it. */
export function decodeOutcome(data: Hex): { readonly success: boolean; readonly revertData: Hex } {
  const [success, revertData] = decodeFunctionResult({ abi, functionName: 'outcome', data })
  return { success, revertData: success ? '0x' : revertData }
}

/** Calldata by which the probe searches gas limits, from what is `known` on. */
export function encodeMeasure(op: Operation, bounds: GasBounds, known: Bracket): Hex {
  const numbers = [bounds.call, bounds.verification, known.floor, known.ceiling, known.used]
  const words = numbers.map((value) => uintWord(value, 'gas limit'))
  return `${measureSelector}${encodeTuple([{ encoded: encodeUserOperationV06(op) }, ...words])}`
}

/** The limits that the probe has found. */
export function decodeMeasure(data: Hex) {
  return decodeFunctionResult({ abi, functionName: 'measure', data })
}

/** An error that the probe itself reverts with. */
export type ProbeError =
  | { readonly name: 'CallReverted' | 'PostOpReverted'; readonly revertData: Hex }
  | { readonly name: 'OutOfGas' }

/** The probe's own error; undefined when the revert is the EntryPoint's. */
export function decodeProbeError(data: Hex): ProbeError | undefined {
  if (!probeErrors.has(data.slice(0, 10))) return undefined
  const { errorName, args } = decodeErrorResult({ abi, data })
  return errorName === 'OutOfGas' ? { name: errorName } : { name: errorName, revertData: args[0] }
}

/**
 * `override` with the probe in place of the EntryPoint. The EntryPoint's code moves to another address:
 * the code in the override where there is one, else `deployed`.
 */
export function placeProbe(
  entryPoint: Address,
  deployed: Hex,
  override: StateOverride = {},
): StateOverride {
  return mergeOverrides(override, {
    [entryPoint]: { code: runtime },
    [ORIGINAL_AT]: { code: override[entryPoint]?.code ?? deployed },
  })
}

import type { Address, Hex } from 'viem'
import {
  decodeErrorResult,
  decodeFunctionResult,
  getAbiItem,
  size,
  toFunctionSelector,
} from 'viem/utils'
import { abi, runtime } from '../../chain/contracts/generated/Probe06.js'
import { ethCall, type StateOverride } from '../../chain/ethCall.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import { getCode } from '../../chain/nodeReads.js'
import { decodeFailure } from '../../erc4337/decodeFailure.js'
import { encodeTuple, uintWord } from '../../erc4337/encoding/abiWriter.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import {
  decodeSimulation,
  encodeSimulateHandleOp,
  encodeSimulateValidation,
  type Simulated,
} from '../../erc4337/simulationV06.js'
import { encodeUserOperationV06 } from '../../erc4337/userOperationV06.js'
import type { Engine, GasBounds, MeasureResult } from '../engine.js'
import { mergeOverrides } from '../evmOverrides.js'
import { aggregated, postOpReverted, unexplained } from '../operationFailure.js'
import { fundsAtNode } from '../payerFunds.js'

const BENEFICIARY: Address = '0x0000000000000000000000000000000000000001'

/**
 * An engine that runs operations of EntryPoint v0.6 by eth_call on any node that knows state overrides,
 * without debug or trace methods. One request each; one more for a validation with a wrong signature, to
 * learn whether it is the account's, and for a measurement with a paymaster, to learn its context's size. The EntryPoint's code is read once.
 */
export function createNodeEngine({ node }: { readonly node: NodeClient }): Engine {
  const codes = new Map<Address, Promise<Hex>>()

  /** An EntryPoint's code never changes. */
  function codeOf(address: Address): Promise<Hex> {
    const known = codes.get(address)
    if (known) return known
    const code = readCode(node, address)
    codes.set(address, code)
    code.catch(() => codes.delete(address))
    return code
  }

  /** `override` with the probe in place of the EntryPoint. */
  async function withProbe(address: Address, override?: StateOverride): Promise<StateOverride> {
    return placeProbe(address, override?.[address]?.code ?? (await codeOf(address)), override)
  }

  /** Runs a simulation of v0.6, which always ends in a revert. */
  async function simulate(address: Address, data: Hex, override?: StateOverride) {
    const outcome = await ethCall(node, { to: address, data }, 'latest', override)
    if (outcome.ok) throw new Error(`no EntryPoint v0.6 answers at ${address}`)
    return decodeSimulation(outcome.revertData) ?? refused(outcome.revertData)
  }

  return {
    async validate(entryPoint, op, override) {
      requireV06(entryPoint)
      const data = encodeSimulateValidation(op)
      const simulated = await simulate(entryPoint.address, data, override)
      if (simulated.kind === 'failure') return { ok: false, failure: simulated.failure }
      if (simulated.kind !== 'validation')
        throw new Error('simulateValidation answered an execution')
      if (simulated.aggregator)
        return { ok: false, failure: aggregated(simulated.aggregator.address) }
      const signer = simulated.signatureFailed
        ? await refusedSignature(node, entryPoint, op, override)
        : undefined
      const contextSize = size(simulated.paymasterContext)
      return {
        ok: true,
        validation: {
          accountSignatureFailed: signer === 'account',
          paymasterSignatureFailed: signer === 'paymaster',
          validAfter: simulated.validAfter,
          validUntil: simulated.validUntil,
          blocks: { after: 0n, until: 0n },
          verificationGasUsed: simulated.preOpGas - op.preVerificationGas,
          contextSize,
          prefund: simulated.prefund,
          observed: {
            kind: 'outline',
            stakes: {
              account: simulated.sender,
              factory: simulated.factory,
              paymaster: simulated.paymaster,
            },
            contextSize,
          },
        },
      }
    },

    async execute(entryPoint, op, override) {
      requireV06(entryPoint)
      const { address } = entryPoint
      const data = encodeSimulateHandleOp(op, address, outcomeCall)
      const simulated = await simulate(address, data, await withProbe(address, override))
      if (simulated.kind === 'failure') return { ok: false, failure: simulated.failure }
      if (simulated.kind !== 'execution') throw new Error('simulateHandleOp answered a validation')
      return {
        ok: true,
        validation: {
          validAfter: simulated.validAfter,
          validUntil: simulated.validUntil,
          verificationGasUsed: simulated.preOpGas - op.preVerificationGas,
        },
        ...decodeOutcome(simulated.targetResult),
      }
    },

    async measure(entryPoint, op, bounds, override) {
      requireV06(entryPoint)
      const { address } = entryPoint
      const funds = await fundsAtNode(node, entryPoint, op)
      const pretended = override ? mergeOverrides(funds, override) : funds
      const measured = await measure(node, address, op, bounds, await withProbe(address, pretended))
      if (op.paymaster === undefined || measured.outcome !== 'measured') return measured
      const { callGasLimit, verificationGasLimit } = measured.gas
      const data = encodeSimulateValidation({ ...op, callGasLimit, verificationGasLimit })
      const simulated = await simulate(address, data, pretended)
      if (simulated.kind === 'failure') return { outcome: 'refused', failure: simulated.failure }
      if (simulated.kind !== 'validation')
        throw new Error('simulateValidation answered an execution')
      const contextSize = size(simulated.paymasterContext)
      return { ...measured, gas: { ...measured.gas, contextSize } }
    },
  }
}

function requireV06(entryPoint: EntryPoint): void {
  if (entryPoint.hasSimulations) return
  throw new Error(`EntryPoint v${entryPoint.version} cannot be simulated on a node; only v0.6 can`)
}

async function readCode(node: NodeClient, address: Address): Promise<Hex> {
  const code = await getCode(node, address)
  if (code === '0x') throw new NodeUnavailableError(`no EntryPoint is deployed at ${address}`)
  return code
}

/** The party whose signature is wrong: handleOps checks the account's first, then the paymaster's. */
async function refusedSignature(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
  override: StateOverride | undefined,
): Promise<'account' | 'paymaster'> {
  const data = entryPoint.encodeHandleOps([op], BENEFICIARY)
  const outcome = await ethCall(node, { to: entryPoint.address, data }, 'latest', override)
  const failure = outcome.ok ? undefined : entryPoint.decodeFailure(outcome.revertData)
  return failure?.code === 'AA34' ? 'paymaster' : 'account'
}

function refused(revertData: Hex): Simulated {
  return { kind: 'failure', failure: unexplained(revertData) }
}

const nothingKnown: Bracket = { floor: 0n, ceiling: 0n, used: 0n }

/**
 * Gas limits by search. The whole search runs inside one eth_call, because each trial there costs
 * the node an execution and us nothing. Only a heavy call, whose trials need more gas than one eth_call
 * grants, takes several. Trials go from the gas used upwards and end within a 64th of it, so a limit
 * lies at most 1.6 % (and 64 gas) above the smallest that suffices.
 */
async function measure(
  node: NodeClient,
  entryPoint: Address,
  op: Operation,
  bounds: GasBounds,
  probed: StateOverride,
): Promise<MeasureResult> {
  let known = nothingKnown
  for (;;) {
    const data = encodeMeasure(op, bounds, known)
    const outcome = await ethCall(node, { to: entryPoint, data }, 'latest', probed)
    if (!outcome.ok) return refusal(outcome.revertData)
    const measured = decodeMeasure(outcome.data)
    const stuck = measured.call.floor === known.floor && measured.call.ceiling === known.ceiling
    if (!measured.complete && !stuck) {
      known = measured.call
      continue
    }
    if (measured.verification.ceiling === 0n) throw tooLittleGas()
    return {
      outcome: 'measured',
      gas: {
        callGasLimit: measured.call.ceiling,
        verificationGasLimit: measured.verification.ceiling,
        verificationGasUsed: measured.verification.used,
        paymasterVerificationGasLimit: 0n,
        postOpGasLimit: measured.postOp.ceiling,
        contextSize: 0,
        validAfter: measured.validAfter,
        validUntil: measured.validUntil === UNBOUNDED ? 0 : measured.validUntil,
      },
    }
  }
}

const UNBOUNDED = 2 ** 48 - 1

function refusal(revertData: Hex): MeasureResult {
  const error = decodeProbeError(revertData)
  switch (error?.name) {
    case 'CallReverted':
      return { outcome: 'reverted', revertData: error.revertData }
    case 'PostOpReverted':
      return { outcome: 'refused', failure: postOpReverted(error.revertData) }
    case 'OutOfGas':
      throw tooLittleGas()
    default:
      return { outcome: 'refused', failure: decodeFailure(revertData) ?? unexplained(revertData) }
  }
}

function tooLittleGas(): NodeUnavailableError {
  return new NodeUnavailableError('eth_call there grants too little gas to estimate this operation')
}

/** The address at which contracts/Probe06.sol expects the EntryPoint's code. */
const ORIGINAL_AT: Address = '0x000070757273657220656e74727920706f696e74'

const measureSelector = toFunctionSelector(getAbiItem({ abi, name: 'measure' }))
const probeErrors = new Set<string>(
  ['CallReverted(bytes)', 'PostOpReverted(bytes)', 'OutOfGas()'].map(toFunctionSelector),
)

/** Bounds of the smallest gas limit: `floor` does not suffice, `ceiling` does; 0 = not known. */
type Bracket = { readonly floor: bigint; readonly ceiling: bigint; readonly used: bigint }

/** Calldata that asks the probe, as the target call of simulateHandleOp, how the call ended. */
const outcomeCall: Hex = toFunctionSelector(getAbiItem({ abi, name: 'outcome' }))

/** The end of the call, as the probe's `outcome` returned it. */
function decodeOutcome(data: Hex): { readonly success: boolean; readonly revertData: Hex } {
  const [success, revertData] = decodeFunctionResult({ abi, functionName: 'outcome', data })
  return { success, revertData: success ? '0x' : revertData }
}

/** Calldata by which the probe searches gas limits, from what is `known` on. */
function encodeMeasure(op: Operation, bounds: GasBounds, known: Bracket): Hex {
  const numbers = [bounds.call, bounds.verification, known.floor, known.ceiling, known.used]
  const words = numbers.map((value) => uintWord(value, 'gas limit'))
  return `${measureSelector}${encodeTuple([{ encoded: encodeUserOperationV06(op) }, ...words])}`
}

/** The limits that the probe has found. */
function decodeMeasure(data: Hex) {
  return decodeFunctionResult({ abi, functionName: 'measure', data })
}

/** An error that the probe itself reverts with. */
type ProbeError =
  | { readonly name: 'CallReverted' | 'PostOpReverted'; readonly revertData: Hex }
  | { readonly name: 'OutOfGas' }

/** The probe's own error; undefined when the revert is the EntryPoint's. */
function decodeProbeError(data: Hex): ProbeError | undefined {
  if (!probeErrors.has(data.slice(0, 10))) return undefined
  const { errorName, args } = decodeErrorResult({ abi, data })
  return errorName === 'OutOfGas' ? { name: errorName } : { name: errorName, revertData: args[0] }
}

/**
 * `override` with the probe in place of the EntryPoint. The EntryPoint's code moves to another address:
 * the code in the override where there is one, else `deployed`.
 */
function placeProbe(
  entryPoint: Address,
  deployed: Hex,
  override: StateOverride = {},
): StateOverride {
  return mergeOverrides(override, {
    [entryPoint]: { code: runtime },
    [ORIGINAL_AT]: { code: override[entryPoint]?.code ?? deployed },
  })
}

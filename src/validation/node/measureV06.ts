import type { Address, Hex } from 'viem'
import { ethCall } from '../../chain/ethCall.js'
import type { NodeClient } from '../../chain/nodeClient.js'
import { NodeUnavailableError } from '../../chain/nodeErrors.js'
import type { StateOverride } from '../../chain/stateOverride.js'
import { decodeFailure } from '../../entrypoint/decodeFailure.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { GasBounds, MeasureResult } from '../engine.js'
import { postOpReverted, unexplained } from '../refusals.js'
import { type Bracket, decodeMeasure, decodeProbeError, encodeMeasure } from './probeV06.js'

const nothingKnown: Bracket = { floor: 0n, ceiling: 0n, used: 0n }

/**
 * Gas limits by search. The whole search runs inside one eth_call, because each trial there costs
 * the node an execution and us nothing. Only a heavy call, whose trials need more gas than one eth_call
 * grants, takes several. Trials go from the gas used upwards and end within a 64th of it, so a limit
 * lies at most 1.6 % (and 64 gas) above the smallest that suffices.
 */
export async function measure(
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

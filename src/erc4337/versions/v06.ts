import type { Address, Hex } from 'viem'
import { remembered } from '../../base/remembered.js'
import { bundleGasV06 } from '../bundleGas.js'
import { effectiveGasPrice, mostChargedV06 } from '../charges.js'
import { decodeFailure } from '../decodeFailure.js'
import { boundHash } from '../encoding/typedDataHash.js'
import { joinEntity, splitEntity } from '../entity.js'
import type { EntryPointContract } from '../entryPoint.js'
import type { Operation, OperationPaymaster } from '../operation.js'
import {
  encodeUserOperationV06,
  hashUserOperationV06,
  readUserOperationV06,
} from '../userOperationV06.js'
import { decodeOutcomes } from './decodeOutcomes.js'
import {
  decodeHandleOps,
  encodeHandleOps,
  encodeOperationTuple,
  type OperationCodec,
} from './handleOps.js'
import { callLayoutV06, readStakeV06, stakeSlotsV06 } from './layouts.js'

const codec: OperationCodec = {
  selector: '0x1fad948c',
  // On its way to the chain an operation is encoded a dozen times.
  encode: remembered(encodeUserOperationV06),
  read: readUserOperationV06,
}

export function createEntryPointV06(address: Address): EntryPointContract {
  return {
    address,
    callLayout: callLayoutV06,
    hash: (op, chainId) => boundHash(hashUserOperationV06(op), address, chainId),
    encodeHandleOps: (ops, beneficiary) => encodeHandleOps(codec, ops, beneficiary),
    decodeHandleOps: (input) => decodeHandleOps(codec, input),
    paymasterAndData: (op) => `0x${joinEntity(op.paymaster, op.paymasterData)}`,
    readPaymasterAndData,
    encodeOperation: remembered((op: Operation) => encodeOperationTuple(codec, op)),
    requiredPrefund: (op) => chargeableGas(op) * op.maxFeePerGas,
    chargeableGas,
    gasPrice: effectiveGasPrice,
    mostCharged: mostChargedV06,
    leastExecutionCharge: () => 0n,
    unusedGasCharge: () => 0n,
    bundleGas: bundleGasV06,
    stakeSlots: stakeSlotsV06,
    readStake: readStakeV06,
    decodeFailure,
    decodeOutcomes: (logs) => decodeOutcomes(address, logs),
  }
}

function readPaymasterAndData(bytes: Hex): OperationPaymaster | undefined {
  if (bytes !== '0x' && bytes.length < 42) return undefined
  const { entity: paymaster, data: paymasterData } = splitEntity(bytes)
  const limits = { paymasterVerificationGasLimit: 0n, paymasterPostOpGasLimit: 0n }
  return { paymaster, paymasterData, ...limits }
}

/**
 * With a paymaster the verification limit counts three times: it also bounds postOp, which may run
 * twice. A zero paymaster is none.
 */
function chargeableGas(op: Operation): bigint {
  const hasPaymaster = op.paymaster !== undefined && BigInt(op.paymaster) !== 0n
  const verifications = hasPaymaster ? 3n : 1n
  return op.callGasLimit + op.verificationGasLimit * verifications + op.preVerificationGas
}

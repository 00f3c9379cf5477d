import type { Address, Hex } from 'viem'
import { remembered } from '../../base/remembered.js'
import { bundleGasPacked } from '../bundleGas.js'
import { effectiveGasPrice } from '../charges.js'
import { decodeFailure } from '../decodeFailure.js'
import type { EntityAndData } from '../entity.js'
import type { EntryPointContract } from '../entryPoint.js'
import type { Operation } from '../operation.js'
import { decodeOutcomes } from './decodeOutcomes.js'
import {
  decodeHandleOps,
  encodeHandleOps,
  encodeOperationTuple,
  type OperationCodec,
} from './handleOps.js'
import { callLayoutPacked, readStakePacked, stakeSlotsPacked } from './layouts.js'
import {
  encodePackedOperation,
  paymasterAndData,
  readPackedOperation,
  splitPaymasterAndData,
} from './packedOperation.js'

type SharedByPacked = Omit<EntryPointContract, 'hash' | 'leastExecutionCharge' | 'unusedGasCharge'>

/** The parts that v0.7 and later have in common; they differ in how `initCode` may be written. */
export function packedEntryPoint(
  address: Address,
  splitInitCode: (initCode: Hex) => EntityAndData,
): SharedByPacked {
  const codec: OperationCodec = {
    selector: '0x765e827f',
    // On its way to the chain an operation is encoded a dozen times.
    encode: remembered(encodePackedOperation),
    read: (reader, at) => readPackedOperation(reader, at, splitInitCode),
  }
  return {
    address,
    callLayout: callLayoutPacked,
    encodeHandleOps: (ops, beneficiary) => encodeHandleOps(codec, ops, beneficiary),
    decodeHandleOps: (input) => decodeHandleOps(codec, input),
    paymasterAndData: (op) => `0x${paymasterAndData(op)}`,
    readPaymasterAndData: splitPaymasterAndData,
    encodeOperation: remembered((op: Operation) => encodeOperationTuple(codec, op)),
    requiredPrefund: (op) => chargeableGas(op) * op.maxFeePerGas,
    chargeableGas,
    gasPrice: effectiveGasPrice,
    mostCharged: () => undefined,
    bundleGas: bundleGasPacked,
    stakeSlots: stakeSlotsPacked,
    readStake: readStakePacked,
    decodeFailure,
    decodeOutcomes: (logs) => decodeOutcomes(address, logs),
  }
}

function chargeableGas(op: Operation): bigint {
  const account = op.verificationGasLimit + op.callGasLimit + op.preVerificationGas
  return op.paymaster === undefined
    ? account
    : account + op.paymasterVerificationGasLimit + op.paymasterPostOpGasLimit
}

import { concat, type Hex, numberToHex } from 'viem'
import type { Operation } from '../../../src/erc4337/operation.js'

/** The struct of viem's entryPoint06Abi, put together with viem only. */
export function toStructV06(op: Operation) {
  return {
    sender: op.sender,
    nonce: op.nonce,
    initCode: op.factory ? concat([op.factory, op.factoryData]) : ('0x' as Hex),
    callData: op.callData,
    callGasLimit: op.callGasLimit,
    verificationGasLimit: op.verificationGasLimit,
    preVerificationGas: op.preVerificationGas,
    maxFeePerGas: op.maxFeePerGas,
    maxPriorityFeePerGas: op.maxPriorityFeePerGas,
    paymasterAndData: op.paymaster ? concat([op.paymaster, op.paymasterData]) : ('0x' as Hex),
    signature: op.signature,
  }
}

function half(value: bigint): Hex {
  return numberToHex(value, { size: 16 })
}

/** The struct of viem's entryPoint07Abi and later, put together with viem only. */
export function toPackedStruct(op: Operation) {
  return {
    sender: op.sender,
    nonce: op.nonce,
    initCode: op.factory ? concat([op.factory, op.factoryData]) : ('0x' as Hex),
    callData: op.callData,
    accountGasLimits: concat([half(op.verificationGasLimit), half(op.callGasLimit)]),
    preVerificationGas: op.preVerificationGas,
    gasFees: concat([half(op.maxPriorityFeePerGas), half(op.maxFeePerGas)]),
    paymasterAndData: op.paymaster
      ? concat([
          op.paymaster,
          half(op.paymasterVerificationGasLimit),
          half(op.paymasterPostOpGasLimit),
          op.paymasterData,
        ])
      : ('0x' as Hex),
    signature: op.signature,
  }
}

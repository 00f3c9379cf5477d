import type { Address, Hex } from 'viem'
import { type AbiReader, malformed } from './abiReader.js'
import { addressWord, digits, encodeTuple, uintWord } from './abiWriter.js'
import type { Operation } from './operation.js'

/** `initCode` as hex digits: factory and its data, or nothing. */
export const initCodeV06 = (op: Operation): string => join(op.factory, op.factoryData)

/** `paymasterAndData` as hex digits: paymaster and its data, or nothing. */
export const paymasterAndDataV06 = (op: Operation): string => join(op.paymaster, op.paymasterData)

const join = (entity: Address | undefined, data: Hex): string =>
  entity === undefined ? '' : digits(entity) + digits(data)

/** ABI encoding of the v0.6 `UserOperation` struct, as hex digits. */
export const encodeUserOperationV06 = (op: Operation): string =>
  encodeTuple([
    addressWord(op.sender),
    uintWord(op.nonce, 'nonce'),
    { bytes: initCodeV06(op) },
    { bytes: digits(op.callData) },
    uintWord(op.callGasLimit, 'callGasLimit'),
    uintWord(op.verificationGasLimit, 'verificationGasLimit'),
    uintWord(op.preVerificationGas, 'preVerificationGas'),
    uintWord(op.maxFeePerGas, 'maxFeePerGas'),
    uintWord(op.maxPriorityFeePerGas, 'maxPriorityFeePerGas'),
    { bytes: paymasterAndDataV06(op) },
    { bytes: digits(op.signature) },
  ])

/** The v0.6 `UserOperation` struct at byte `at`. Only inside `readAbi`. */
export const readUserOperationV06 = (reader: AbiReader, at: number): Operation => {
  const initCode = split(reader.bytes(at, at + 64))
  const paymasterAndData = split(reader.bytes(at, at + 288))
  return {
    sender: reader.address(at),
    nonce: reader.uint(at + 32),
    factory: initCode.entity,
    factoryData: initCode.data,
    callData: reader.bytes(at, at + 96),
    callGasLimit: reader.uint(at + 128),
    verificationGasLimit: reader.uint(at + 160),
    preVerificationGas: reader.uint(at + 192),
    maxFeePerGas: reader.uint(at + 224),
    maxPriorityFeePerGas: reader.uint(at + 256),
    paymaster: paymasterAndData.entity,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: paymasterAndData.data,
    signature: reader.bytes(at, at + 320),
    authorization: undefined,
  }
}

const split = (bytes: Hex): { entity: Address | undefined; data: Hex } => {
  if (bytes === '0x') return { entity: undefined, data: '0x' }
  if (bytes.length < 42) return malformed()
  return { entity: `0x${bytes.slice(2, 42)}`, data: `0x${bytes.slice(42)}` }
}

import type { AbiReader } from './encoding/abiReader.js'
import { addressWord, digits, encodeTuple, uintWord } from './encoding/abiWriter.js'
import { keccak } from './encoding/keccak.js'
import { joinEntity, splitEntity } from './entity.js'
import type { Operation } from './operation.js'

/** ABI encoding of the v0.6 `UserOperation` struct, as hex digits. */
export function encodeUserOperationV06(op: Operation): string {
  return encodeTuple([
    addressWord(op.sender),
    uintWord(op.nonce, 'nonce'),
    { bytes: joinEntity(op.factory, op.factoryData) },
    { bytes: digits(op.callData) },
    gasWords(op),
    { bytes: joinEntity(op.paymaster, op.paymasterData) },
    { bytes: digits(op.signature) },
  ])
}

/** Hash of the v0.6 struct without its signature, in hex digits. */
export function hashUserOperationV06(op: Operation): string {
  return keccak(
    addressWord(op.sender) +
      uintWord(op.nonce, 'nonce') +
      keccak(joinEntity(op.factory, op.factoryData)) +
      keccak(digits(op.callData)) +
      gasWords(op) +
      keccak(joinEntity(op.paymaster, op.paymasterData)),
  )
}

/** The words from `callGasLimit` to `maxPriorityFeePerGas`. */
function gasWords(op: Operation): string {
  return (
    uintWord(op.callGasLimit, 'callGasLimit') +
    uintWord(op.verificationGasLimit, 'verificationGasLimit') +
    uintWord(op.preVerificationGas, 'preVerificationGas') +
    uintWord(op.maxFeePerGas, 'maxFeePerGas') +
    uintWord(op.maxPriorityFeePerGas, 'maxPriorityFeePerGas')
  )
}

/** The v0.6 `UserOperation` struct at byte `at`. Only inside `readAbi`. */
export function readUserOperationV06(reader: AbiReader, at: number): Operation {
  const factory = splitEntity(reader.bytes(at, at + 64))
  const paymaster = splitEntity(reader.bytes(at, at + 288))
  return {
    sender: reader.address(at),
    nonce: reader.uint(at + 32),
    factory: factory.entity,
    factoryData: factory.data,
    callData: reader.bytes(at, at + 96),
    callGasLimit: reader.uint(at + 128),
    verificationGasLimit: reader.uint(at + 160),
    preVerificationGas: reader.uint(at + 192),
    maxFeePerGas: reader.uint(at + 224),
    maxPriorityFeePerGas: reader.uint(at + 256),
    paymaster: paymaster.entity,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: paymaster.data,
    signature: reader.bytes(at, at + 320),
    authorization: undefined,
  }
}

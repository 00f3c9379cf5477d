import type { Hex } from 'viem'
import { type AbiReader, malformed } from '../encoding/abiReader.js'
import { addressWord, digits, encodeTuple, uint, uintWord } from '../encoding/abiWriter.js'
import { keccak } from '../encoding/keccak.js'
import { type EntityAndData, joinEntity } from '../entity.js'
import type { Operation, OperationPaymaster } from '../operation.js'

/** `paymasterAndData` as hex digits: paymaster, its two gas limits and its data, or nothing. */
export function paymasterAndData(op: Operation): string {
  return op.paymaster === undefined
    ? ''
    : digits(op.paymaster) +
        uint(op.paymasterVerificationGasLimit, 128, 'paymasterVerificationGasLimit') +
        uint(op.paymasterPostOpGasLimit, 128, 'paymasterPostOpGasLimit') +
        digits(op.paymasterData)
}

/** The words from `accountGasLimits` to `gasFees`. */
function gasWords(op: Operation): string {
  return (
    uint(op.verificationGasLimit, 128, 'verificationGasLimit') +
    uint(op.callGasLimit, 128, 'callGasLimit') +
    uintWord(op.preVerificationGas, 'preVerificationGas') +
    uint(op.maxPriorityFeePerGas, 128, 'maxPriorityFeePerGas') +
    uint(op.maxFeePerGas, 128, 'maxFeePerGas')
  )
}

/** ABI encoding of the `PackedUserOperation` struct of v0.7 and later, as hex digits. */
export function encodePackedOperation(op: Operation): string {
  return encodeTuple([
    addressWord(op.sender),
    uintWord(op.nonce, 'nonce'),
    { bytes: joinEntity(op.factory, op.factoryData) },
    { bytes: digits(op.callData) },
    gasWords(op),
    { bytes: paymasterAndData(op) },
    { bytes: digits(op.signature) },
  ])
}

/**
 * The words that are hashed for a packed operation, in hex digits: the struct without its signature,
 * its bytes fields hashed. `initCode` and `paymasterAndData` are what the version hashes for them.
 */
export function hashedWords(op: Operation, initCode: string, paymasterAndData: string): string {
  return (
    addressWord(op.sender) +
    uintWord(op.nonce, 'nonce') +
    keccak(initCode) +
    keccak(digits(op.callData)) +
    gasWords(op) +
    keccak(paymasterAndData)
  )
}

/** The `PackedUserOperation` struct at byte `at`. Only inside `readAbi`. */
export function readPackedOperation(
  reader: AbiReader,
  at: number,
  splitInitCode: (initCode: Hex) => EntityAndData,
): Operation {
  const factory = splitInitCode(reader.bytes(at, at + 64))
  return {
    sender: reader.address(at),
    nonce: reader.uint(at + 32),
    factory: factory.entity,
    factoryData: factory.data,
    callData: reader.bytes(at, at + 96),
    verificationGasLimit: reader.uint128(at + 128),
    callGasLimit: reader.uint128(at + 144),
    preVerificationGas: reader.uint(at + 160),
    maxPriorityFeePerGas: reader.uint128(at + 192),
    maxFeePerGas: reader.uint128(at + 208),
    ...(splitPaymasterAndData(reader.bytes(at, at + 224)) ?? malformed()),
    signature: reader.bytes(at, at + 256),
    authorization: undefined,
  }
}

/** The reverse of `paymasterAndData`; undefined where the bytes are too short. */
export function splitPaymasterAndData(bytes: Hex): OperationPaymaster | undefined {
  if (bytes === '0x') {
    return {
      paymaster: undefined,
      paymasterVerificationGasLimit: 0n,
      paymasterPostOpGasLimit: 0n,
      paymasterData: '0x',
    }
  }
  if (bytes.length < 106) return undefined
  return {
    paymaster: `0x${bytes.slice(2, 42)}`,
    paymasterVerificationGasLimit: BigInt(`0x${bytes.slice(42, 74)}`),
    paymasterPostOpGasLimit: BigInt(`0x${bytes.slice(74, 106)}`),
    paymasterData: `0x${bytes.slice(106)}`,
  }
}

import type { Address, Hex } from 'viem'
import { hashedInitCode } from '../../erc4337/delegation.js'
import { addressWord, digits, uint, uintWord } from '../../erc4337/encoding/abiWriter.js'
import { keccak } from '../../erc4337/encoding/keccak.js'
import { joinEntity } from '../../erc4337/entity.js'
import type { EntryPoint, Version } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'

/*
 * EIP-712 as the tanks do it, as hex text without `0x`. A struct that a tank's signer signs holds the
 * EntryPoint, every field of the operation but its two signatures, and the promise for it.
 */

/** An operation that names its tank. */
export type TankOperation = Operation & { readonly paymaster: Address }

function hashOfText(text: string): string {
  return keccak(Buffer.from(text).toString('hex'))
}

const domainTypeHash = hashOfText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
)
const nameHash = hashOfText('Purser Tank')
const versionHash = hashOfText('1')

type SignedOperation = {
  /** The fields in an EIP-712 type. */
  readonly fields: string
  /**
   * Their words. `delegate` is the target of the sender's code, where the operation does not say.
   */
  readonly words: (op: Operation, delegate: Address | undefined) => string
}

function senderWords(op: Operation, initCode: string): string {
  return (
    addressWord(op.sender) +
    uintWord(op.nonce, 'nonce') +
    keccak(initCode) +
    keccak(digits(op.callData))
  )
}

const signed06: SignedOperation = {
  fields:
    'address sender,uint256 nonce,bytes initCode,bytes callData,uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,uint256 maxFeePerGas,uint256 maxPriorityFeePerGas',
  words: (op) =>
    senderWords(op, joinEntity(op.factory, op.factoryData)) +
    uintWord(op.callGasLimit, 'callGasLimit') +
    uintWord(op.verificationGasLimit, 'verificationGasLimit') +
    uintWord(op.preVerificationGas, 'preVerificationGas') +
    uintWord(op.maxFeePerGas, 'maxFeePerGas') +
    uintWord(op.maxPriorityFeePerGas, 'maxPriorityFeePerGas'),
}

const signed07: SignedOperation = {
  fields:
    'address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes32 paymasterGasLimits',
  words: (op, delegate) =>
    senderWords(op, hashedInitCode(op, delegate)) +
    uint(op.verificationGasLimit, 128, 'verificationGasLimit') +
    uint(op.callGasLimit, 128, 'callGasLimit') +
    uintWord(op.preVerificationGas, 'preVerificationGas') +
    uint(op.maxPriorityFeePerGas, 128, 'maxPriorityFeePerGas') +
    uint(op.maxFeePerGas, 128, 'maxFeePerGas') +
    uint(op.paymasterVerificationGasLimit, 128, 'paymasterVerificationGasLimit') +
    uint(op.paymasterPostOpGasLimit, 128, 'paymasterPostOpGasLimit'),
}

/** A function that makes the digests of one kind of promise. */
export type PromiseHash = (
  op: TankOperation,
  entryPoint: Pick<EntryPoint, 'version' | 'address'>,
  chainId: number,
  /** The words of the promise's own fields. */
  promised: string,
  delegate: Address | undefined,
) => Hex

/** The hash function for promises of EIP-712 type `name`, whose own fields are `fields`. */
export function promiseHash(name: string, fields: string): PromiseHash {
  const struct = (operation: SignedOperation) => ({
    words: operation.words,
    typeHash: hashOfText(`${name}(address entryPoint,${operation.fields},${fields})`),
  })
  const packed = struct(signed07)
  const structs: Readonly<Record<Version, typeof packed>> = {
    '0.6': struct(signed06),
    '0.7': packed,
    '0.8': packed,
    '0.9': packed,
  }
  return (op, entryPoint, chainId, promised, delegate) => {
    const domain = keccak(
      domainTypeHash +
        nameHash +
        versionHash +
        uintWord(BigInt(chainId), 'chainId') +
        addressWord(op.paymaster),
    )
    const { typeHash, words } = structs[entryPoint.version]
    const text = typeHash + addressWord(entryPoint.address) + words(op, delegate) + promised
    return `0x${keccak(`1901${domain}${keccak(text)}`)}`
  }
}

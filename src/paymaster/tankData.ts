import type { Address, Hex } from 'viem'
import { addressWord, digits, uint, uintWord } from '../entrypoint/abiWriter.js'
import { hashedInitCode } from '../entrypoint/delegation.js'
import { joinEntity } from '../entrypoint/entity.js'
import type { EntryPoint, Version } from '../entrypoint/entryPoint.js'
import { keccak } from '../entrypoint/keccak.js'
import type { Operation } from '../entrypoint/operation.js'
import { joinPaymasterSignature } from '../entrypoint/paymasterSignature.js'

/** When a sponsorship holds, Unix seconds; validUntil 0 = without end. */
export type TimeRange = { readonly validAfter: number; readonly validUntil: number }

/** What the paymasterData of a tank holds. */
export type TankData = TimeRange & { readonly signature: Hex }

const TIME_DIGITS = 12
const SIGNATURE_DIGITS = 130

/**
 * A signature of nobody to estimate with: an address can be recovered from it, so checking it costs
 * the gas of a real one, and no byte is zero, so its calldata costs at least as much.
 */
export const stubSignature: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

/**
 * paymasterData of a tank, the same for every EntryPoint version: validUntil(6) | validAfter(6) |
 * signature(65). Throws RangeError for what does not fit.
 */
export const encodeTankData = ({ validUntil, validAfter }: TimeRange, signature: Hex): Hex => {
  if (signature.length !== 2 + SIGNATURE_DIGITS) {
    throw new RangeError('A tank signature has 65 bytes.')
  }
  return `0x${timeDigits(validUntil)}${timeDigits(validAfter)}${digits(signature)}`
}

/**
 * paymasterData of a tank on v0.9 that may sign after the account: the same bytes, with the suffix
 * by which the EntryPoint leaves the signature out of the userOpHash.
 */
export const encodeLateTankData = (range: TimeRange, signature: Hex): Hex => {
  const times = encodeTankData(range, signature).slice(0, 2 + 2 * TIME_DIGITS) as Hex
  return joinPaymasterSignature(times, signature)
}

/** The reverse of encodeTankData; undefined when the tank would refuse the bytes for their length. */
export const parseTankData = (paymasterData: Hex): TankData | undefined => {
  if (paymasterData.length !== 2 + 2 * TIME_DIGITS + SIGNATURE_DIGITS) return undefined
  const validAfterAt = 2 + TIME_DIGITS
  const signatureAt = validAfterAt + TIME_DIGITS
  return {
    validUntil: Number.parseInt(paymasterData.slice(2, validAfterAt), 16),
    validAfter: Number.parseInt(paymasterData.slice(validAfterAt, signatureAt), 16),
    signature: `0x${paymasterData.slice(signatureAt)}`,
  }
}

const timeDigits = (seconds: number): string => {
  if (!Number.isInteger(seconds) || seconds < 0 || seconds >= 2 ** 48) {
    throw new RangeError(`A time must be whole seconds that fit 48 bits, not ${seconds}.`)
  }
  return seconds.toString(16).padStart(TIME_DIGITS, '0')
}

const hashOfText = (text: string): string => keccak(Buffer.from(text).toString('hex'))

const DOMAIN_TYPE_HASH = hashOfText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
)
const NAME_HASH = hashOfText('Purser Tank')
const VERSION_HASH = hashOfText('1')

/** An operation that names its tank. */
export type TankOperation = Operation & { readonly paymaster: Address }

/**
 * What the tank's signer signs (getHash of the contract: EIP-712, no further prefix) to pay for
 * `op` within `range`. Covers every field but the operation's signature and paymasterData.
 * @param delegate - what the sender's code points to, when it is an EIP-7702 account already
 */
export const sponsorshipHash = (
  op: TankOperation,
  entryPoint: Pick<EntryPoint, 'version' | 'address'>,
  chainId: number,
  range: TimeRange,
  delegate?: Address,
): Hex => {
  const domain = keccak(
    DOMAIN_TYPE_HASH +
      NAME_HASH +
      VERSION_HASH +
      uintWord(BigInt(chainId), 'chainId') +
      addressWord(op.paymaster),
  )
  const { typeHash, words } = structs[entryPoint.version]
  const struct =
    typeHash +
    addressWord(entryPoint.address) +
    words(op, delegate) +
    timeDigits(range.validUntil).padStart(64, '0') +
    timeDigits(range.validAfter).padStart(64, '0')
  return `0x${keccak(`1901${domain}${keccak(struct)}`)}`
}

type Struct = {
  readonly typeHash: string
  /** The words from sender to the last of gas and fees. */
  readonly words: (op: Operation, delegate: Address | undefined) => string
}

const senderWords = (op: Operation, initCode: string): string =>
  addressWord(op.sender) +
  uintWord(op.nonce, 'nonce') +
  keccak(initCode) +
  keccak(digits(op.callData))

const tank06: Struct = {
  typeHash: hashOfText(
    'Sponsorship(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,uint48 validUntil,uint48 validAfter)',
  ),
  words: (op) =>
    senderWords(op, joinEntity(op.factory, op.factoryData)) +
    uintWord(op.callGasLimit, 'callGasLimit') +
    uintWord(op.verificationGasLimit, 'verificationGasLimit') +
    uintWord(op.preVerificationGas, 'preVerificationGas') +
    uintWord(op.maxFeePerGas, 'maxFeePerGas') +
    uintWord(op.maxPriorityFeePerGas, 'maxPriorityFeePerGas'),
}

const tank07: Struct = {
  typeHash: hashOfText(
    'Sponsorship(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes32 paymasterGasLimits,uint48 validUntil,uint48 validAfter)',
  ),
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

const structs: Readonly<Record<Version, Struct>> = {
  '0.6': tank06,
  '0.7': tank07,
  '0.8': tank07,
  '0.9': tank07,
}

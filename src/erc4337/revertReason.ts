import type { Hex } from 'viem'
import { boundText, LONGEST_TEXT } from './encoding/boundText.js'
import { type AbiReader, readAbi } from './encoding/abiReader.js'
import { keccak } from './encoding/keccak.js'

const ERROR_STRING = '0x08c379a0'
const PANIC = '0x4e487b71'

/** Errors in errors that are read. */
const DEEPEST_ERROR = 2

const panics: Readonly<Record<number, string>> = {
  1: 'assertion failed',
  17: 'arithmetic overflow',
  18: 'division by zero',
  33: 'invalid enum value',
  34: 'invalid storage bytes',
  49: 'pop of an empty array',
  50: 'array index out of bounds',
  65: 'out of memory',
  81: 'call of an uninitialized function',
}

/** The text of `hex`, read as UTF-8, without control characters and at most 1,000 characters long. */
export function safeText(hex: Hex): string {
  return boundText(Buffer.from(hex.slice(2, 2 + LONGEST_TEXT * 8), 'hex').toString('utf8'))
}

/** The text of Solidity's `Error(string)`; undefined when `data` is something else. */
export function readErrorString(data: Hex): string | undefined {
  return readAbi(data, ERROR_STRING, (reader) => safeText(reader.bytes(0, 0)))
}

/**
 * Revert data in words: the text of `Error(string)`, the meaning of `Panic`, a known custom error
 * with its arguments, else the bare selector. Undefined when nothing was given.
 */
export function describeRevert(data: Hex, depth = 0): string | undefined {
  if (data.length < 10) return undefined
  return (
    readErrorString(data) ??
    readAbi(data, PANIC, describePanic) ??
    describeKnownError(data, depth) ??
    `custom error ${data.slice(0, 10).toLowerCase()}`
  )
}

/** The error in an error, as those of batches; the data may nest any number of them. */
function argumentText(bytes: Hex, depth: number): string {
  return (depth < DEEPEST_ERROR ? describeRevert(bytes, depth + 1) : undefined) ?? bytes
}

function describePanic(reader: AbiReader): string {
  const code = reader.number(0)
  const meaning = panics[code]
  return `Panic(0x${code.toString(16).padStart(2, '0')})${meaning ? `: ${meaning}` : ''}`
}

/** A known custom error with its arguments, e.g. `InsufficientBalance(5, 7)`; else undefined. */
export function describeKnownError(data: Hex, depth = 0): string | undefined {
  const selector: Hex = `0x${data.slice(2, 10).toLowerCase()}`
  const signature = knownErrors.get(selector)
  if (signature === undefined) return undefined
  const [name, types] = signature.slice(0, -1).split('(')
  const kinds = types ? types.split(',') : []
  return readAbi(data, selector, (reader) => {
    const values = kinds.map((kind, index) => readArgument(reader, kind, index * 32, depth))
    return boundText(`${name}(${values.join(', ')})`)
  })
}

function readArgument(reader: AbiReader, kind: string, position: number, depth: number): string {
  switch (kind) {
    case 'address':
      return reader.address(position)
    case 'uint256':
      return reader.uint(position).toString()
    case 'bytes':
      return argumentText(reader.bytes(0, position), depth)
    default:
      return `0x${reader.word(position)}`
  }
}

/** Custom errors that an EntryPoint itself reverts handleOps with (v0.7 guard, v0.9). */
const entryPointSignatures = [
  'Eip7702SenderNotDelegate(address)',
  'Eip7702SenderWithoutCode(address)',
  'FailedSendToBeneficiary(address,uint256,bytes)',
  'InternalFunction()',
  'InvalidBeneficiary(address)',
  'InvalidPaymaster(address)',
  'InvalidPaymasterData(uint256)',
  'InvalidPaymasterSignatureLength(uint256,uint256)',
  'Reentrancy()',
  'ReentrancyGuardReentrantCall()',
  'SignatureValidationFailed(address)',
]

/** Custom errors of OpenZeppelin, Solady, Permit2 and common accounts, and of our tanks. */
const contractSignatures = [
  'AccessControlUnauthorizedAccount(address,bytes32)',
  'AddressEmptyCode(address)',
  'AllowanceExpired(uint256)',
  'AlreadyInitialized()',
  'ApproveFailed()',
  'CallFailed()',
  'ECDSAInvalidSignature()',
  'ECDSAInvalidSignatureLength(uint256)',
  'ECDSAInvalidSignatureS(bytes32)',
  'ERC1155InsufficientBalance(address,uint256,uint256,uint256)',
  'ERC1155InvalidReceiver(address)',
  'ERC1155MissingApprovalForAll(address,address)',
  'ERC20InsufficientAllowance(address,uint256,uint256)',
  'ERC20InsufficientBalance(address,uint256,uint256)',
  'ERC20InvalidReceiver(address)',
  'ERC20InvalidSpender(address)',
  'ERC2612ExpiredSignature(uint256)',
  'ERC2612InvalidSigner(address,address)',
  'ERC721IncorrectOwner(address,uint256,address)',
  'ERC721InsufficientApproval(address,uint256)',
  'ERC721InvalidReceiver(address)',
  'ERC721NonexistentToken(uint256)',
  'EnforcedPause()',
  // Of the batches of EntryPoint v0.8 accounts: the place of the call, and its error.
  'ExecuteError(uint256,bytes)',
  'ExecutionFailed()',
  'ExpectedPause()',
  'FailedCall()',
  'FailedInnerCall()',
  'InsufficientAllowance()',
  'InsufficientAllowance(uint256)',
  'InsufficientBalance()',
  'InsufficientBalance(uint256,uint256)',
  'InvalidInitialization()',
  'InvalidNonce()',
  'NotOwner(address,address,address)',
  'OwnableInvalidOwner(address)',
  'OwnableUnauthorizedAccount(address)',
  // Of our token tanks: token, sender, charge.
  'PaymentRefused(address,address,uint256)',
  'PostOpReverted(bytes)',
  'SafeERC20FailedOperation(address)',
  'SignatureExpired(uint256)',
  'TransferFailed()',
  'TransferFromFailed()',
  'Unauthorized()',
  'UnsupportedExecutionMode()',
]

function bySelector(signatures: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    signatures.map((signature) => {
      const hash = keccak(Buffer.from(signature).toString('hex'))
      return [`0x${hash.slice(0, 8)}`, signature]
    }),
  )
}

/** Signatures of an EntryPoint's own errors by selector. */
export const entryPointErrors = bySelector(entryPointSignatures)

/** Signatures of all errors known by name, by selector. */
const knownErrors = bySelector([...entryPointSignatures, ...contractSignatures])

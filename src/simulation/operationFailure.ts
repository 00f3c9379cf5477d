import type { Address, Hex } from 'viem'
import { greatest } from '../base/bigints.js'
import {
  PaymasterRejectedError,
  SignatureRejectedError,
  TimeRangeError,
  ValidationRejectedError,
} from '../base/errors/operationErrors.js'
import type { PurserError } from '../base/errors/purserError.js'
import { timeText } from '../base/unixNow.js'
import type { ComingBlock } from '../chain/comingBlock.js'
import { readDeposit, readEntryPointOf, readNonce } from '../chain/entryPointReads.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getBalance } from '../chain/nodeReads.js'
import { canonicalAddresses } from '../erc4337/canonicalAddresses.js'
import type { AaCode, EntryPoint, Failure } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { describeRevert } from '../erc4337/revertReason.js'
import type { TimeRange, Validity } from '../erc4337/validationData.js'
import type { Validation } from './engine.js'

const outOfTime = new Set(['AA22', 'AA27', 'AA32', 'AA37'])

/** The error of ERC-7769 for the EntryPoint's failure of `op`; `range` in Unix seconds, 0 = no bound. */
export function toOperationError(
  failure: Failure,
  op: Pick<Operation, 'paymaster'>,
  range: TimeRange = { validAfter: 0, validUntil: 0 },
): PurserError {
  const { code, message, revertData } = failure
  if (code === 'AA24' || code === 'AA34') return new SignatureRejectedError(message, code)
  const paymasterFailed = code !== undefined && /^AA(?:3\d|50)$/.test(code)
  const paymaster = paymasterFailed ? op.paymaster : undefined
  if (code !== undefined && outOfTime.has(code)) {
    return new TimeRangeError(message, { ...range, ...(paymaster && { paymaster }) })
  }
  const reason = { message, rule: code, revertData }
  return paymaster === undefined
    ? new ValidationRejectedError(reason)
    : new PaymasterRejectedError(reason, paymaster)
}

/**
 * Throws TimeRangeError when the operation is not valid in the block `next`, or no longer in the block `last`:
 * too soon to be included. The range is that of account and paymaster together; with a paymaster in the
 * operation it is named, as it is the one that usually sets a range.
 */
export function requireValidity(
  { validAfter, validUntil, blocks }: Validity,
  op: Pick<Operation, 'paymaster'>,
  next: ComingBlock,
  last: ComingBlock,
): void {
  const { paymaster } = op
  const refuse = (message: string, range: TimeRange) => {
    throw new TimeRangeError(message, { ...range, ...(paymaster && { paymaster }) })
  }
  const { timestamp: now } = next
  const times = `${paymaster ? 'AA32 paymaster' : 'AA22'} expired or not due`
  if (validAfter > now)
    refuse(`${times}: valid after ${timeText(validAfter)}, now ${timeText(now)}`, {
      validAfter,
      validUntil,
    })
  if (validUntil !== 0 && validUntil < last.timestamp) {
    const life = last.timestamp - now
    const message = `valid until ${timeText(validUntil)}, must be valid ${life} s beyond ${timeText(now)}`
    refuse(`${times}: ${message}`, { validAfter, validUntil })
  }
  const { after, until } = blocks
  const range = { validAfter: Number(after), validUntil: Number(until) }
  const numbers = `${paymaster ? 'AA37 paymaster' : 'AA27'} outside valid block range`
  if (after >= next.number)
    refuse(`${numbers}: valid after block ${after}, the next block is ${next.number}`, range)
  if (until !== 0n && until < last.number) {
    const message = `valid until block ${until}, must be valid until block ${last.number}`
    refuse(`${numbers}: ${message}`, range)
  }
}

/** An operation as its signer must have seen it. */
type SignedSubject = {
  readonly entryPoint: EntryPoint
  readonly chainId: number
  readonly hash: Hex
}

/**
 * The failure with which the EntryPoint refuses a wrong signature, which simulations only note; undefined when both
 * signatures are right. For the account's it names the hash, and what the hash depends on in addition to the fields.
 */
export function signatureFailure(
  { accountSignatureFailed, paymasterSignatureFailed }: Validation,
  { entryPoint: { address, version }, chainId, hash }: SignedSubject,
): Failure | undefined {
  const failure = (code: AaCode, subject = ''): Failure => {
    return { index: 0, code, message: `${code} signature error${subject}`, revertData: '0x' }
  }
  if (accountSignatureFailed) {
    const place = `on chain ${chainId} with EntryPoint v${version} ${address}`
    return failure('AA24', `: the hash of the operation is ${hash} ${place}`)
  }
  return paymasterSignatureFailed ? failure('AA34') : undefined
}

/**
 * The failure of an account that gave no reason, with one. `needed`: gas that its validation used with more of it, undefined
 * where that failed otherwise; 0 = it fails in the same way with any.
 */
export function describeSilent(
  failure: Failure,
  { verificationGasLimit }: Pick<Operation, 'verificationGasLimit'>,
  needed: bigint | undefined,
): Failure {
  const enough = needed ? `, about ${needed} is needed` : ''
  const reason =
    needed === 0n
      ? 'it reverted without a reason, and not for lack of gas'
      : `out of gas, the verificationGasLimit of ${verificationGasLimit} is too low${enough}. Estimate again`
  return { ...failure, message: `${failure.message}: ${reason}` }
}

/** Whether the account's creation or validation reverted and nobody knows why. */
export function isSilent({ message }: Failure): boolean {
  return /^(?:AA13 initCode failed or OOG|AA23 reverted(?: \(or OOG\))?)$/.test(message)
}

/**
 * The failure of an operation with the numbers behind its code: the EntryPoint names none. Money and nonces
 * are those of the latest block. A failure of another kind stays as it is.
 */
export async function describeFailure(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
  failure: Failure,
): Promise<Failure> {
  const numbers = await numbersOf(node, entryPoint, op, failure)
  return numbers === undefined ? failure : { ...failure, message: `${failure.message}: ${numbers}` }
}

async function numbersOf(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
  { code }: Failure,
): Promise<string | undefined> {
  switch (code) {
    case 'AA21':
    case 'AA31':
      return describeFunds(node, entryPoint, op)
    case 'AA20':
      return 'the sender has no code. The first operation of an account brings factory and factoryData (v0.6: initCode), that of an EIP-7702 account its eip7702Auth'
    case 'AA23':
      return describeOtherVersion(node, entryPoint, op)
    case 'AA25': {
      const next = await readNonce(node, entryPoint.address, op.sender, op.nonce)
      return describeNonce(op.nonce, next)
    }
    default:
      return undefined
  }
}

/** The EntryPoint of an account that names another one; undefined where it names this one or none. */
async function describeOtherVersion(
  node: NodeClient,
  { address, version }: EntryPoint,
  { sender }: Operation,
): Promise<string | undefined> {
  const own = await readEntryPointOf(node, sender)
  const known = Object.entries(canonicalAddresses).find(([, each]) => each === own)
  return own === undefined || own === address || known === undefined
    ? undefined
    : `the account is one of EntryPoint v${known[0]} ${own}, the operation came to v${version}`
}

/** The nonce of an operation and the next one of its key. */
export function describeNonce(nonce: bigint, next: bigint): string {
  return `the operation has nonce ${nonce}, the account is at ${next}`
}

/** The wei that the payer has, needs and lacks, in words. */
async function describeFunds(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
): Promise<string> {
  const needed = entryPoint.requiredPrefund(op)
  const deposit = await readDeposit(node, entryPoint.address, op.paymaster ?? op.sender)
  const missing = (money: bigint) => `${greatest(needed - money, 0n)} wei are missing`
  if (op.paymaster)
    return `needs ${needed} wei, paymaster ${op.paymaster} has ${deposit} deposited, ${missing(deposit)}`
  const balance = await getBalance(node, op.sender)
  return `needs ${needed} wei, the account has ${balance} and ${deposit} deposited, ${missing(balance + deposit)}`
}

/** The failure of an account that asks for a signature aggregator, which we do not serve. */
export function aggregated(aggregator: Address): Failure {
  return {
    index: 0,
    code: 'AA24',
    message: `AA24 signature error: signature aggregator ${aggregator} is not supported`,
    revertData: '0x',
  }
}

/** A failure without a reason: the EntryPoint gives none when an account or paymaster returns bad data. */
export function unexplained(revertData: Hex): Failure {
  const reason =
    describeRevert(revertData) ?? 'no reason given, malformed return data or out of gas'
  return { index: 0, code: undefined, message: `validation reverted: ${reason}`, revertData }
}

/** The way out for a sender from whom a token tank of ours could not take its charge. */
const TOKEN_ADVICE =
  '. Let a call of the operation approve the paymaster for the token, and have enough of it; with both, its postOp has too little gas for this token.'

/** A postOp that reverts: EntryPoint v0.6 refuses then, later ones undo the call of the account. */
export function postOpReverted(revertData: Hex): Failure {
  const reason = describeRevert(revertData) ?? 'no reason given'
  const advice = reason.startsWith('PaymentRefused(') ? TOKEN_ADVICE : ''
  return { index: 0, code: 'AA50', message: `AA50 postOp reverted: ${reason}${advice}`, revertData }
}

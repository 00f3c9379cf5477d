import type { ComingBlock } from '../chain/comingBlock.js'
import type { Failure } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { TimeRange, Validity } from '../entrypoint/validationData.js'
import {
  PaymasterRejectedError,
  SignatureRejectedError,
  TimeRangeError,
  ValidationRejectedError,
} from '../errors/operationErrors.js'
import type { PurserError } from '../errors/purserError.js'

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
    refuse(`${times}: valid after ${validAfter}, now ${now}`, { validAfter, validUntil })
  if (validUntil !== 0 && validUntil < last.timestamp) {
    const life = last.timestamp - now
    const message = `valid until ${validUntil}, must be valid ${life} s beyond ${now}`
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

import type { Failure } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import type { TimeRange } from '../entrypoint/validationData.js'
import {
  PaymasterRejectedError,
  SignatureRejectedError,
  TimeRangeError,
  ValidationRejectedError,
} from '../errors/operationErrors.js'
import type { PurserError } from '../errors/purserError.js'

/** Seconds for which an operation must stay valid to be admitted (ERC-7769 -32503). */
const MINIMUM_LIFE = 30

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
 * Throws TimeRangeError when the operation is not valid at `now` (Unix seconds) or ends within 30
 * seconds, too soon to be included. The range is that of account and paymaster together; with a
 * paymaster in the operation it is named, as it is the one that usually sets a range.
 */
export function requireTimeRange(
  { validAfter, validUntil }: TimeRange,
  op: Pick<Operation, 'paymaster'>,
  now: number,
): void {
  const { paymaster } = op
  const range = { validAfter, validUntil, ...(paymaster && { paymaster }) }
  const rule = paymaster ? 'AA32 paymaster' : 'AA22'
  if (validAfter > now) {
    throw new TimeRangeError(
      `${rule} expired or not due: valid after ${validAfter}, now ${now}`,
      range,
    )
  }
  if (validUntil !== 0 && validUntil < now + MINIMUM_LIFE) {
    throw new TimeRangeError(
      `${rule} expired or not due: valid until ${validUntil}, must be valid ${MINIMUM_LIFE} s beyond ${now}`,
      range,
    )
  }
}

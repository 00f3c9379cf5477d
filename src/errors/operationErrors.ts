import type { Address, Hex } from 'viem'
import { PurserError } from './purserError.js'

type Reason = {
  /**
   * The sentence of the EntryPoint or of Purser, with the AA code: `AA25 invalid account nonce`.
   */
  readonly message: string
  /** The AA code or rule. */
  readonly rule?: string | undefined
  readonly revertData?: Hex | undefined
}

/** Account or factory failed validation (AA1x, AA2x). ERC-7769 -32500. */
export class ValidationRejectedError extends PurserError {
  override readonly name = 'ValidationRejectedError'
  constructor({ message, rule, revertData }: Reason) {
    super(message, { code: -32500, status: 400, rule, data: revertData && { revertData } })
  }
}

/** The paymaster failed validation (AA3x). ERC-7769 -32501. */
export class PaymasterRejectedError extends PurserError {
  override readonly name = 'PaymasterRejectedError'
  constructor({ message, rule, revertData }: Reason, paymaster: Address) {
    super(message, {
      code: -32501,
      status: 400,
      rule,
      data: { paymaster, ...(revertData ? { revertData } : {}) },
    })
  }
}

/** The operation is expired, expires soon, or is not valid yet. ERC-7769 -32503. */
export class TimeRangeError extends PurserError {
  override readonly name = 'TimeRangeError'
  constructor(
    message: string,
    range: { validAfter: number; validUntil: number; paymaster?: Address },
  ) {
    super(message, { code: -32503, status: 400, rule: timeCode(message), data: range })
  }
}

/** AA22, AA27, AA32 or AA37, with which the sentence begins. */
function timeCode(message: string): string | undefined {
  return /^AA\d\d/.exec(message)?.[0]
}

/**
 * The account's or paymaster's signature check failed (AA24, AA34). ERC-7769 -32507. The reason of the EntryPoint
 * comes first, then the words of other bundlers, for clients that look for them.
 */
export class SignatureRejectedError extends PurserError {
  override readonly name = 'SignatureRejectedError'
  constructor(message: string, rule: 'AA24' | 'AA34') {
    const text = `${message} (Invalid UserOp signature or paymaster signature)`
    super(text, { code: -32507, status: 400, rule })
  }
}

/** The paymaster's deposit cannot cover all its pending operations. ERC-7769 -32508. */
export class PaymasterDepositError extends PurserError {
  override readonly name = 'PaymasterDepositError'
  constructor(paymaster: Address, deposit: bigint, required: bigint) {
    super(
      `paymaster deposit too low: ${paymaster} has ${deposit} wei, its pending operations need ${required} wei. Deposit more.`,
      {
        code: -32508,
        status: 400,
        rule: 'EREP-010',
        data: { paymaster, deposit: deposit.toString(), required: required.toString() },
      },
    )
  }
}

/** The call data reverts. Conventional code -32521; viem reads `data.revertData`. */
export class ExecutionRevertedError extends PurserError {
  override readonly name = 'ExecutionRevertedError'
  constructor(reason: string, revertData: Hex) {
    super(`UserOperation reverted during execution: ${reason}`, {
      code: -32521,
      status: 400,
      data: { revertData },
    })
  }
}

/** A fee is below what the network or the bundler needs. Codes -32006 (priority), -32007 (max). */
export class FeeTooLowError extends PurserError {
  override readonly name = 'FeeTooLowError'
  constructor(field: 'maxFeePerGas' | 'maxPriorityFeePerGas', given: bigint, required: bigint) {
    super(`${field} in userOp: ${given} is lower than expected ${field}: ${required}`, {
      code: field === 'maxFeePerGas' ? -32007 : -32006,
      status: 400,
      data: { field, given: given.toString(), required: required.toString() },
    })
  }
}

/**
 * preVerificationGas does not pay for the operation's share of the bundle. Code -32602 (ERC-7769).
 */
export class PreVerificationGasTooLowError extends PurserError {
  override readonly name = 'PreVerificationGasTooLowError'
  constructor(given: bigint, required: bigint) {
    super(`preVerificationGas in userOp: ${given} is lower than expected: ${required}`, {
      code: -32602,
      status: 400,
      rule: 'PRE_VERIFICATION_GAS_TOO_LOW',
      data: { field: 'preVerificationGas', given: given.toString(), required: required.toString() },
    })
  }
}

/** A limit of the operation itself (size, gas, signature length) is broken. */
export class OperationLimitError extends PurserError {
  override readonly name = 'OperationLimitError'
  constructor(field: string, reason: string, rule?: string) {
    super(`${field}: ${reason}`, { code: -32602, status: 400, rule, data: { field } })
  }
}

/** The same sender and nonce is pooled already and the new fees are not +10 % on both. */
export class ReplacementUnderpricedError extends PurserError {
  override readonly name = 'ReplacementUnderpricedError'
  constructor(existing: Hex, requiredMaxFee: bigint, requiredPriorityFee: bigint) {
    super(
      `replacement fees too low: operation ${existing} has the same sender and nonce; send maxFeePerGas >= ${requiredMaxFee} and maxPriorityFeePerGas >= ${requiredPriorityFee}`,
      {
        code: -32602,
        status: 400,
        rule: 'REPLACEMENT_UNDERPRICED',
        data: {
          existing,
          requiredMaxFeePerGas: requiredMaxFee.toString(),
          requiredMaxPriorityFeePerGas: requiredPriorityFee.toString(),
        },
      },
    )
  }
}

/** The operation with this sender and nonce is in a signed bundle and can no longer be replaced. */
export class AlreadyBundledError extends PurserError {
  override readonly name = 'AlreadyBundledError'
  constructor(existing: Hex) {
    super(
      `operation ${existing} with the same sender and nonce is already being bundled; wait for its receipt`,
      { code: -32602, status: 400, rule: 'ALREADY_BUNDLED', data: { existing } },
    )
  }
}

/** The mempool is full: too many pending operations of one entity, or in total. */
export class MempoolFullError extends PurserError {
  override readonly name = 'MempoolFullError'
  constructor(message: string) {
    super(message, { code: -32005, status: 429, retryAfter: 2, rule: 'POOL_FULL' })
  }
}

/** No operation with this hash is known. */
export class OperationNotFoundError extends PurserError {
  override readonly name = 'OperationNotFoundError'
  constructor(hash: Hex, chainId: number) {
    super(`UserOpHash: ${hash} not found for chainId: ${chainId}`, { code: -32004, status: 200 })
  }
}

import type { Address, Hex } from 'viem'
import { TAKE_FEES } from './catalogue.js'
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
  constructor({ message, rule, revertData }: Reason) {
    super(message, { code: -32500, rule, data: revertData && { revertData } })
  }
}

/** The paymaster failed validation (AA3x). ERC-7769 -32501. */
export class PaymasterRejectedError extends PurserError {
  constructor({ message, rule, revertData }: Reason, paymaster: Address) {
    super(message, {
      code: -32501,
      rule,
      data: { paymaster, ...(revertData ? { revertData } : {}) },
    })
  }
}

/** The operation is expired, expires soon, or is not valid yet. ERC-7769 -32503. */
export class TimeRangeError extends PurserError {
  constructor(
    message: string,
    range: { validAfter: number; validUntil: number; paymaster?: Address },
  ) {
    // AA22, AA27, AA32 or AA37, with which the sentence begins.
    super(message, { code: -32503, rule: /^AA\d\d/.exec(message)?.[0], data: range })
  }
}

/**
 * The account's or paymaster's signature check failed (AA24, AA34). ERC-7769 -32507. The reason of the EntryPoint
 * comes first, then the words of other bundlers, for clients that look for them.
 */
export class SignatureRejectedError extends PurserError {
  constructor(message: string, rule: 'AA24' | 'AA34') {
    const text = `${message} (Invalid UserOp signature or paymaster signature)`
    super(text, { code: -32507, rule })
  }
}

/** The paymaster's deposit cannot cover all its pending operations. ERC-7769 -32508. */
export class PaymasterDepositError extends PurserError {
  constructor(paymaster: Address, deposit: bigint, required: bigint) {
    super(
      `paymaster deposit too low: ${paymaster} has ${deposit} wei, its pending operations need ${required} wei. Deposit more.`,
      {
        code: -32508,
        rule: 'EREP-010',
        data: { paymaster, deposit: deposit.toString(), required: required.toString() },
      },
    )
  }
}

/** The call data reverts. Conventional code -32521; viem reads `data.revertData`. */
export class ExecutionRevertedError extends PurserError {
  constructor(reason: string, revertData: Hex) {
    super(`UserOperation reverted during execution: ${reason}`, {
      code: -32521,
      data: { revertData },
    })
  }
}

/** A fee is below what the network or the bundler needs. Codes -32006 (priority), -32007 (max). */
export class FeeTooLowError extends PurserError {
  constructor(field: 'maxFeePerGas' | 'maxPriorityFeePerGas', given: bigint, required: bigint) {
    const message = `${field} in userOp: ${given} is lower than expected ${field}: ${required}. ${TAKE_FEES}`
    super(message, {
      code: field === 'maxFeePerGas' ? -32007 : -32006,
      data: { field, given: given.toString(), required: required.toString() },
    })
  }
}

/**
 * preVerificationGas does not pay for the operation's share of the bundle. Code -32602 (ERC-7769).
 */
export class PreVerificationGasTooLowError extends PurserError {
  constructor(given: bigint, required: bigint) {
    super(`preVerificationGas in userOp: ${given} is lower than expected: ${required}`, {
      code: -32602,
      rule: 'PRE_VERIFICATION_GAS_TOO_LOW',
      data: { field: 'preVerificationGas', given: given.toString(), required: required.toString() },
    })
  }
}

/** A limit of the operation itself (size, gas, signature length) is broken. */
export class OperationLimitError extends PurserError {
  constructor(field: string, reason: string, rule?: string) {
    super(`${field}: ${reason}`, { code: -32602, rule, data: { field } })
  }
}

/** The same sender and nonce is pooled already and the new fees are not +10 % on both. */
export class ReplacementUnderpricedError extends PurserError {
  constructor(existing: Hex, requiredMaxFee: bigint, requiredPriorityFee: bigint) {
    super(
      `replacement fees too low: operation ${existing} has the same sender and nonce; send maxFeePerGas >= ${requiredMaxFee} and maxPriorityFeePerGas >= ${requiredPriorityFee}`,
      {
        code: -32602,
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
  constructor(existing: Hex) {
    super(
      `operation ${existing} with the same sender and nonce is already being bundled; wait for its receipt`,
      { code: -32602, rule: 'ALREADY_BUNDLED', data: { existing } },
    )
  }
}

/** The mempool is full: too many pending operations of one entity, or in total. */
export class MempoolFullError extends PurserError {
  constructor(message: string) {
    super(message, { code: -32005, status: 429, retryAfter: 2, rule: 'POOL_FULL' })
  }
}

/** No operation with this hash is known. */
export class OperationNotFoundError extends PurserError {
  constructor(hash: Hex, chainId: number) {
    super(`UserOpHash: ${hash} not found for chainId: ${chainId}`, { code: -32004, status: 200 })
  }
}

/** The time of eth_sendUserOperationSync is over: code 4 with the bare hash as data, as EIP-7966 has it. */
export class OperationTimeoutError extends PurserError {
  /** @param reason - why the wait ended, as the end of a sentence */
  constructor(hash: Hex, state: string, reason: string) {
    super(
      `The operation ${hash} is ${state} and goes on: ${reason}. Ask for its receipt, or send it again to wait on.`,
      { code: 4, hash },
    )
  }
}

/** An operation that eth_sendUserOperationSync waited for was dropped or replaced, or its bundles failed. */
export class OperationEndedError extends PurserError {
  constructor(
    userOpHash: Hex,
    {
      state,
      reason,
      rule,
    }: { state: string; reason: string | undefined; rule: string | undefined },
  ) {
    super(`The operation ${userOpHash} was not included: ${reason ?? state}`, {
      code: -32000,
      rule,
      data: { userOpHash, state },
    })
  }
}

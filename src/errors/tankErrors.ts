import type { Hex } from 'viem'
import { PurserError } from './purserError.js'

/** A tank cannot be made, filled or emptied as requested. */
export class TankError extends PurserError {
  override readonly name = 'TankError'
  constructor(message: string) {
    super(message, { code: -32602, status: 400 })
  }
}

/** A transaction that we sent for an operator reverted, or was not mined in time. */
export class TransactionFailedError extends PurserError {
  override readonly name = 'TransactionFailedError'
  constructor(what: string, transactionHash: Hex) {
    super(`${what} (transaction ${transactionHash}).`, {
      code: -32000,
      status: 500,
      data: { transactionHash },
    })
  }
}

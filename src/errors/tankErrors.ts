import type { Address, Hex } from 'viem'
import { PurserError } from './purserError.js'

/** A tank cannot be made, filled or emptied as requested. */
export class TankError extends PurserError {
  override readonly name = 'TankError'
  constructor(message: string) {
    super(message, { code: -32602, status: 400 })
  }
}

/** The signer of a tank is lost: the master key does not decrypt its key. */
export class SignerLostError extends TankError {
  constructor({ address, owner }: { readonly address: Address; readonly owner: Address }) {
    super(
      `Tank ${address} cannot sign: the master key does not decrypt the key of its signer. Restore the master key under which the tank was made, or let its owner ${owner} take the deposit out with \`purser tank withdraw\` and make a new tank with \`purser tank replace\`.`,
    )
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

import type { Address, Hex } from 'viem'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { OperationOutcome } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/** The answer of eth_getUserOperationReceipt, before a dialect writes it. */
export type OperationReceipt = OperationOutcome & {
  readonly entryPoint: Address
  readonly receipt: TransactionReceipt
  /** Blocks on top of and including the bundle's block, at the current head; 0 while preconfirmed. */
  readonly confirmations: number
  /** The pending block shows the inclusion, and no block does: the sequencer may break its word. */
  readonly preconfirmed?: true
}

/** The answer of eth_getUserOperationByHash, before a dialect writes it. Block fields are undefined while pending. */
export type OperationByHash = {
  readonly operation: Operation
  readonly entryPoint: Address
  readonly blockNumber: bigint | undefined
  readonly blockHash: Hex | undefined
  readonly transactionHash: Hex | undefined
}

/** The answer of biconomy_getUserOperationStatus, before a dialect writes it. */
export type OperationStatus = {
  readonly state:
    | 'BUNDLER_MEMPOOL'
    | 'SUBMITTED'
    | 'CONFIRMED'
    | 'FAILED'
    | 'DROPPED_FROM_BUNDLER_MEMPOOL'
  readonly message: string | undefined
  readonly transactionHash: Hex | undefined
  readonly receipt: OperationReceipt | undefined
  /** As in a receipt; the state stays SUBMITTED. */
  readonly preconfirmed?: true
}

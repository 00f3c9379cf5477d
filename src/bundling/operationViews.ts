import type { Address, Hex } from 'viem'
import type { Log, OperationOutcome } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

/** A bundle's transaction receipt as nodes give it, quantities decoded. */
export type TransactionReceipt = {
  readonly transactionHash: Hex
  readonly transactionIndex: number
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly from: Address
  readonly to: Address | null
  readonly contractAddress: Address | null
  readonly cumulativeGasUsed: bigint
  readonly gasUsed: bigint
  readonly effectiveGasPrice: bigint
  readonly logs: readonly Log[]
  readonly logsBloom: Hex
  readonly status: number
  readonly type: number
}

/** What eth_getUserOperationReceipt answers, before a dialect writes it. */
export type OperationReceipt = OperationOutcome & {
  readonly entryPoint: Address
  readonly receipt: TransactionReceipt
  /** Blocks on top of and including the bundle's block, at the current head. */
  readonly confirmations: number
}

/** What eth_getUserOperationByHash answers. Block fields are undefined while pending. */
export type OperationByHash = {
  readonly operation: Operation
  readonly entryPoint: Address
  readonly blockNumber: bigint | undefined
  readonly blockHash: Hex | undefined
  readonly transactionHash: Hex | undefined
}

/** What biconomy_getUserOperationStatus answers (clients.md 2.7). */
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
}

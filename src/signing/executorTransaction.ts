import type { Address, Hex, SignedAuthorization } from 'viem'

/** A transaction of an executor, before it is signed. Gas in gas, fees in wei per gas. */
export type ExecutorTransaction = {
  readonly chainId: number
  readonly nonce: number
  readonly to: Address
  readonly data: Hex
  /** wei; absent = 0 */
  readonly value?: bigint
  readonly gas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** EIP-7702: applied before the operations run. Empty = a transaction without such a list. */
  readonly authorizationList?: readonly SignedAuthorization[]
}

/** A signature of a transaction's hash; `s` is in the lower half (EIP-2). */
export type EcdsaSignature = { readonly r: Hex; readonly s: Hex; readonly yParity: 0 | 1 }

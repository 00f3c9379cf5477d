import type { Address, Hex } from 'viem'

/** State override set of eth_call: the state that the node is to pretend. */
export type StateOverride = {
  readonly [address: Address]: {
    readonly balance?: Hex
    readonly nonce?: Hex
    readonly code?: Hex
    readonly state?: Readonly<Record<Hex, Hex>>
    readonly stateDiff?: Readonly<Record<Hex, Hex>>
  }
}

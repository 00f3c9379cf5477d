import type { Address, Hex } from 'viem'

/** The parts that differ between two executions of the same code, and move the slots they touch. */
export type AccessSubject = {
  readonly sender: Address
  /** High 192 bits of the nonce. */
  readonly nonceKey: bigint
}

/** Hints about the state that an execution will touch, by which it is read beforehand. */
export type AccessHints = AccessSubject & {
  /** Names under which touched state is remembered, the most specific first. */
  readonly names: readonly [string, ...string[]]
  /** Contracts that are sure to be called. */
  readonly accounts: readonly Address[]
  /** Slots that are sure to be read. */
  readonly slots: readonly (readonly [Address, Hex])[]
  /** Contracts that are sure to create another, for which their nonce is needed. */
  readonly creators: readonly Address[]
}

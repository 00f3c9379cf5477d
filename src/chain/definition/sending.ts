import type { Hex } from 'viem'

/** The methods by which relays take a transaction that is not to be seen before it is in a block. */
export const privateMethods = ['eth_sendPrivateTransaction', 'eth_sendRawTransaction'] as const

/** The way in which the bundles of a chain reach those who build its blocks. Other transactions are always public. */
export type SendingDefinition = { readonly way: 'public' } | PrivateSending | ConditionalSending

/** A relay that shows bundles to builders only, and has those that revert left out of blocks. */
export type PrivateSending = Fallback & {
  readonly way: 'private'
  readonly url: string
  readonly method: (typeof privateMethods)[number]
}

/** A sequencer that includes a bundle only while the storage that its validations read is unchanged. */
export type ConditionalSending = Fallback & {
  readonly way: 'conditional'
  /** Absent = the chain's nodes. */
  readonly url?: string | undefined
}

type Fallback = {
  /** The key that signs requests to the relay (X-Flashbots-Signature); never one that holds money. */
  readonly authKey?: Hex | undefined
  /** Blocks after which a bundle without inclusion is sent publicly. */
  readonly publicAfter: number
}

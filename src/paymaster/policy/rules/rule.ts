import type { Address } from 'viem'
import type { Refusal } from '../../../base/errors/catalogue.js'
import type { Draft } from '../../../erc4337/draft.js'
import type { PolicyTerms } from '../policySchema.js'

/** The facts of a request that are known before anything was estimated. */
export type RequestFacts = {
  readonly chainId: number
  /** Unix seconds */
  readonly at: number
  readonly sender: Address
  readonly draft: Pick<Draft, 'callData' | 'factory' | 'factoryData'>
  /** Whether the sender has code already, a delegation of EIP-7702 included. */
  readonly senderExists: boolean
}

/** The facts that are known once the operation was estimated and its webhooks were asked. */
export type EstimateFacts = {
  /** wei per gas that the operation bids */
  readonly maxFeePerGas: bigint
  /** The number of webhooks that were asked, all of which approved. */
  readonly webhooksAsked: number
}

/**
 * One rule of a policy: the reason why the policy does not pay, as a sentence that follows
 * "Policy name: ", or undefined when it would. Pure.
 */
export type PolicyRule<Facts = RequestFacts> = (
  terms: PolicyTerms,
  facts: Facts,
) => Refusal | undefined

import type { Address } from 'viem'
import type { Draft } from '../../entrypoint/draft.js'
import type { PolicyTerms } from '../policy.js'
import type { Refusal } from '../../errors/refusal.js'

/** What is known of a request before anything was estimated. */
export type RequestFacts = {
  readonly chainId: number
  /** Unix seconds */
  readonly at: number
  readonly sender: Address
  readonly draft: Pick<Draft, 'callData' | 'factory'>
}

/** One rule: why the policy does not pay, as a sentence that follows "Policy name: ". Pure. */
export type PolicyRule = (terms: PolicyTerms, facts: RequestFacts) => Refusal | undefined

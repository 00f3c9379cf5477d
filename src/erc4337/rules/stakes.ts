import type { StakeInfo } from '../entryPoint.js'
import type { EntityRole } from './violation.js'

export type { StakeInfo }

/** The stake that a chain asks for: MIN_STAKE_VALUE in wei and MIN_UNSTAKE_DELAY in seconds. */
export type StakePolicy = {
  readonly minimumStake: bigint
  readonly minimumUnstakeDelay: bigint
}

/** The stakes of an operation's entities in its EntryPoint; absent = none. */
export type Stakes = { readonly [role in EntityRole]?: StakeInfo | undefined }

/** SREP-010: whether there is a stake, and it reaches both minima. */
export function isStaked(stake: StakeInfo | undefined, policy: StakePolicy): boolean {
  return (stake?.stake ?? 0n) > 0n && countsAsStaked(stake, policy)
}

/**
 * Whether the rules allow an entity what they allow staked ones: also one without a stake, where the
 * policy asks for none.
 */
export function countsAsStaked(stake: StakeInfo | undefined, policy: StakePolicy): boolean {
  if (stake === undefined) return false
  return stake.stake >= policy.minimumStake && stake.unstakeDelay >= policy.minimumUnstakeDelay
}

import type { StakeInfo } from '../../entrypoint/entryPoint.js'
import type { EntityRole } from './violation.js'

export type { StakeInfo }

/** The stake that a chain asks for: MIN_STAKE_VALUE in wei and MIN_UNSTAKE_DELAY in seconds. */
export type StakePolicy = {
  readonly minimumStake: bigint
  readonly minimumUnstakeDelay: bigint
}

/** The stakes of an operation's entities in its EntryPoint; absent = none. */
export type Stakes = { readonly [role in EntityRole]?: StakeInfo | undefined }

/** SREP-010: whether a stake reaches both minima. */
export function isStaked(stake: StakeInfo | undefined, policy: StakePolicy): boolean {
  if (stake === undefined) return false
  return stake.stake >= policy.minimumStake && stake.unstakeDelay >= policy.minimumUnstakeDelay
}

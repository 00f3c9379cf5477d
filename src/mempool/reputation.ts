/** The record of an entity, decayed by the hour (ERC-7562 "reputation"). */
type Reputation = {
  /** Operations with the entity that were taken into the pool. */
  readonly opsSeen: number
  /** Operations of them that were included. */
  readonly opsIncluded: number
}

/** `throttled`: few operations at a time. `banned`: none. */
export type ReputationStatus = 'ok' | 'throttled' | 'banned'

/** MIN_INCLUSION_RATE_DENOMINATOR: one of this many operations must be included. */
const INCLUSION_RATE = 10
/** THROTTLING_SLACK and BAN_SLACK: inclusions that an entity may be behind. */
const THROTTLING_SLACK = 10
const BAN_SLACK = 50
/** SAME_UNSTAKED_ENTITY_MEMPOOL_COUNT and MAX_OPS_ALLOWED_UNSTAKED_ENTITY. */
const UNSTAKED_ALLOWANCE = 10
const MAX_UNSTAKED_ALLOWANCE = 10_000

/** THROTTLED_ENTITY_MEMPOOL_COUNT and THROTTLED_ENTITY_BUNDLE_COUNT. */
export const THROTTLED_OPERATIONS = 4
/** THROTTLED_ENTITY_LIVE_BLOCKS */
export const THROTTLED_BLOCKS = 10n

/**
 * The status of an entity (GREP-010, GREP-020). The ERC holds `pending` operations, which had no chance to
 * be included yet, against an entity; we do not, else a popular factory is banned by its first busy
 * block.
 */
export function statusOf({ opsSeen, opsIncluded }: Reputation, pending: number): ReputationStatus {
  const expected = Math.floor(Math.max(opsSeen - pending, 0) / INCLUSION_RATE)
  if (expected > opsIncluded + BAN_SLACK) return 'banned'
  return expected > opsIncluded + THROTTLING_SLACK ? 'throttled' : 'ok'
}

/** The most pending operations of an unstaked paymaster (UREP-020). */
export function opsAllowed({ opsSeen, opsIncluded }: Reputation): number {
  const rate = opsSeen === 0 ? 0 : Math.min(opsIncluded / opsSeen, 1)
  return UNSTAKED_ALLOWANCE + Math.floor(rate * Math.min(opsIncluded, MAX_UNSTAKED_ALLOWANCE))
}

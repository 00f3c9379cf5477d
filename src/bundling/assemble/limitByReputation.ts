import type { Address } from 'viem'
import {
  type ReputationStatus,
  statusOf,
  THROTTLED_BLOCKS,
  THROTTLED_OPERATIONS,
} from '../../mempool/reputation.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import type { StoredReputation } from '../../store/pool/reputations.js'

type ReputationLimits = {
  /** In the order of the candidates. */
  readonly allowed: readonly StoredOperation[]
  readonly drops: readonly Drop[]
}

/**
 * The candidates that reputation allows in a bundle at block `head`. An operation of a banned entity is
 * dropped (GREP-010). Of a throttled entity four may go, the best first; one that waited longer than
 * ten blocks is dropped (GREP-020).
 */
export function limitByReputation(
  candidates: readonly StoredOperation[],
  reputations: readonly StoredReputation[],
  head: bigint,
): ReputationLimits {
  const statuses = new Map<Address, ReputationStatus>()
  for (const reputation of reputations) {
    const status = statusOf(reputation, reputation.pending)
    if (status !== 'ok') statuses.set(reputation.address, status)
  }
  if (statuses.size === 0) return { allowed: candidates, drops: [] }

  const allowed: StoredOperation[] = []
  const drops: Drop[] = []
  const chosen = new Map<Address, number>()
  for (const stored of candidates) {
    const { hash, operation, factory, seenBlock } = stored
    const entities = [operation.sender, factory, operation.paymaster].filter(
      (address) => address !== undefined,
    )
    const banned = entities.find((address) => statuses.get(address) === 'banned')
    const throttled = entities.filter((address) => statuses.get(address) === 'throttled')
    if (banned) {
      drops.push({ hash, code: 'GREP-010', reason: `${banned} is banned by its reputation` })
    } else if (throttled.length > 0 && head > seenBlock + THROTTLED_BLOCKS) {
      const reason = `${throttled[0]} is throttled, and the operation waited ${head - seenBlock} blocks`
      drops.push({ hash, code: 'GREP-020', reason })
    } else if (throttled.every((entity) => (chosen.get(entity) ?? 0) < THROTTLED_OPERATIONS)) {
      for (const entity of throttled) chosen.set(entity, (chosen.get(entity) ?? 0) + 1)
      allowed.push(stored)
    }
  }
  return { allowed, drops }
}

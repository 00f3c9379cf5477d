import type { Address } from 'viem'
import {
  type ReputationStatus,
  statusOf,
  THROTTLED_BLOCKS,
  THROTTLED_OPERATIONS,
} from '../../mempool/reputation.js'
import type { Drop, StoredOperation } from '../../store/pool/operations.js'
import type { StoredReputation } from '../../store/pool/reputations.js'

type Limited = {
  /** In the order of the candidates. */
  readonly allowed: readonly StoredOperation[]
  readonly drops: readonly Drop[]
}

/**
 * What reputation allows a bundle at block `head`: no operation of a banned entity (GREP-010), which
 * leaves the pool; of a throttled one four, the best first, and none that waited longer than ten
 * blocks (GREP-020).
 */
export function limitByReputation(
  candidates: readonly StoredOperation[],
  reputations: readonly StoredReputation[],
  head: bigint,
): Limited {
  const bad = new Map<Address, ReputationStatus>()
  for (const reputation of reputations) {
    const status = statusOf(reputation, reputation.pending)
    if (status !== 'ok') bad.set(reputation.address, status)
  }
  if (bad.size === 0) return { allowed: candidates, drops: [] }

  const allowed: StoredOperation[] = []
  const drops: Drop[] = []
  const chosen = new Map<Address, number>()
  for (const stored of candidates) {
    const { hash, operation, factory, seenBlock } = stored
    const entities = [operation.sender, factory, operation.paymaster].filter(
      (address) => address !== undefined,
    )
    const banned = entities.find((address) => bad.get(address) === 'banned')
    const throttled = entities.filter((address) => bad.get(address) === 'throttled')
    if (banned) {
      drops.push({ hash, code: 'GREP-010', reason: `${banned} is banned by its reputation` })
    } else if (throttled.length > 0 && head > seenBlock + THROTTLED_BLOCKS) {
      const reason = `${throttled[0]} is throttled, and the operation waited ${head - seenBlock} blocks`
      drops.push({ hash, code: 'GREP-020', reason })
    } else if (throttled.every((each) => (chosen.get(each) ?? 0) < THROTTLED_OPERATIONS)) {
      for (const each of throttled) chosen.set(each, (chosen.get(each) ?? 0) + 1)
      allowed.push(stored)
    }
  }
  return { allowed, drops }
}

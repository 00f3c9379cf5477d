import type { Address } from 'viem'
import { compareBigints, smallest } from '../../base/bigints.js'

type Refillable = { readonly address: Address /** wei */; readonly balance: bigint }

export type Refill = { readonly to: Address /** wei */; readonly value: bigint }

export type RefillPlan = {
  readonly refills: readonly Refill[]
  /** Executors that need money for which the treasury has none. */
  readonly unserved: readonly Address[]
}

type Means = {
  readonly executors: readonly Refillable[]
  /** Executors with a refill on its way. */
  readonly underway: ReadonlySet<Address>
  /** wei that the treasury can spend. */
  readonly available: bigint
  /** wei that one transfer costs at most. */
  readonly transferCost: bigint
  readonly refillBelow: bigint
  readonly refillTo: bigint
  /** Transfers that may go out now. */
  readonly most: number
}

/**
 * Who is refilled with how much: executors below `refillBelow`, the poorest first, up to `refillTo`.
 * When the treasury is short, the last one gets what is left if that lifts it to `refillBelow`; less
 * would not help anyone.
 */
export function planRefills(means: Means): RefillPlan {
  const { executors, underway, transferCost, refillBelow, refillTo, most } = means
  const needy = executors
    .filter(({ address, balance }) => balance < refillBelow && !underway.has(address))
    .sort((a, b) => compareBigints(a.balance, b.balance))
  const refills: Refill[] = []
  const unserved: Address[] = []
  let { available } = means
  for (const { address, balance } of needy) {
    const value = smallest(refillTo - balance, available - transferCost)
    if (balance + value < refillBelow) unserved.push(address)
    else if (refills.length < most) {
      refills.push({ to: address, value })
      available -= value + transferCost
    }
  }
  return { refills, unserved }
}

import type { Address } from 'viem'
import { compareBigints, smallest } from '../../base/bigints.js'

type Refillable = { readonly address: Address /** wei */; readonly balance: bigint }

export type Refill = { readonly to: Address /** wei */; readonly value: bigint }

export type RefillPlan = {
  readonly refills: readonly Refill[]
  /** Executors that need money for which the treasury has none. */
  readonly unserved: readonly Address[]
}

type RefillConditions = {
  readonly executors: readonly Refillable[]
  /** Executors with a refill on its way. */
  readonly inFlight: ReadonlySet<Address>
  /** wei that the treasury can spend. */
  readonly available: bigint
  /** The most wei that one transfer can cost. */
  readonly transferCost: bigint
  readonly refillBelow: bigint
  readonly refillTo: bigint
  /** The most transfers that may go out now. */
  readonly maxRefills: number
}

/**
 * The transfers that fill executors below `refillBelow` up to `refillTo`, the poorest first. When the
 * treasury is short, the last one gets the rest if that lifts it to `refillBelow`; less would not let it
 * send again.
 */
export function planRefills(conditions: RefillConditions): RefillPlan {
  const { executors, inFlight, transferCost, refillBelow, refillTo, maxRefills } = conditions
  const candidates = executors
    .filter(({ address, balance }) => balance < refillBelow && !inFlight.has(address))
    .sort((a, b) => compareBigints(a.balance, b.balance))
  const refills: Refill[] = []
  const unserved: Address[] = []
  let { available } = conditions
  for (const { address, balance } of candidates) {
    const value = smallest(refillTo - balance, available - transferCost)
    if (balance + value < refillBelow) unserved.push(address)
    else if (refills.length < maxRefills) {
      refills.push({ to: address, value })
      available -= value + transferCost
    }
  }
  return { refills, unserved }
}

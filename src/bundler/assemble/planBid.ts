import type { Fees } from '../../erc4337/fees.js'
import { highestTip } from '../fees/bundleFees.js'

/** A bundle that succeeds in simulation, before it is decided what it bids. */
export type BidCandidate<Op> = {
  /** Operations of the bundle that have waited for others to share it as long as they may. */
  readonly overdue: readonly Op[]
  /** Fees that the bundle was simulated with. */
  readonly fees: Fees
  /** wei per gas: the tip that the operations were selected for; the bundle bids no more */
  readonly targetTip: bigint
  /** wei per gas: the least tip with which a transaction is worth sending now */
  readonly leastTip: bigint
  /** wei per gas: the tip below which no node takes this bundle */
  readonly tipFloor: bigint
  /** Whether the operations pay for the transaction when it has these fees. */
  readonly pays: (fees: Fees) => boolean
}

export type BidPlan<Op> =
  /** Send the bundle with these fees. */
  | { readonly kind: 'bid'; readonly fees: Fees }
  /** Assemble it again for the least tip: more operations can pay that one, and share its cost. */
  | { readonly kind: 'retryCheaper' }
  /** Leave its operations in the pool until others come. */
  | { readonly kind: 'wait' }
  /** The same, but for these: nothing more can be done for them. */
  | { readonly kind: 'drop'; readonly dropped: readonly Op[] }

/**
 * The bid of a bundle, which never costs more than its operations pay:
 * - they pay its fees: bid those;
 * - they do not, but it was assembled for more than the least tip: retry cheaper;
 * - none of them is overdue: wait for more operations to share the cost;
 * - one is overdue: bid the highest tip that they pay;
 * - they pay none that the chain's nodes take: drop those that are overdue, the others wait.
 */
export function planBid<Op>({
  overdue,
  fees,
  targetTip,
  leastTip,
  tipFloor,
  pays,
}: BidCandidate<Op>): BidPlan<Op> {
  if (pays(fees)) return { kind: 'bid', fees }
  if (targetTip > leastTip) return { kind: 'retryCheaper' }
  if (overdue.length === 0) return { kind: 'wait' }
  const cheaper = highestTip(fees, tipFloor, pays)
  return cheaper ? { kind: 'bid', fees: cheaper } : { kind: 'drop', dropped: overdue }
}

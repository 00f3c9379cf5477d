import type { Address } from 'viem'
import { greatest } from '../../base/bigints.js'
import type { ComingBlock } from '../../chain/comingBlock.js'
import type { Fees } from '../../erc4337/fees.js'
import { endsBefore } from '../../erc4337/validationData.js'
import type { BundleAttempt, OpenBundle } from '../outbox/bundles.js'

/**
 * A lane is the queue of nonces of one executor: its transactions in flight, as the chain at one head and
 * the outbox have them.
 */
export type Lane = {
  readonly executor: Address
  /** The executor's next nonce in the chain. */
  readonly mined: bigint
  /** In nonce order. */
  readonly open: readonly OpenBundle[]
}

/** A step that an open bundle needs now. */
type LaneStep =
  | { readonly kind: 'abandon'; readonly bundle: OpenBundle; readonly reason: string }
  /** Replace it by a transaction that does nothing. */
  | { readonly kind: 'cancel'; readonly bundle: OpenBundle; readonly reason: string }
  /** Send its newest transaction, which the node does not know. */
  | { readonly kind: 'send'; readonly bundle: OpenBundle }

export type LanePlan = {
  readonly steps: readonly LaneStep[]
  /**
   * Bundles whose fees should rise, the one that blocks the others first. At most one of them in one
   * cycle: raising all at once would multiply what a short rise of fees costs.
   */
  readonly stuck: readonly OpenBundle[]
}

type LaneConditions = {
  /** Whether this transaction is in the node's pool or chain. */
  readonly isKnown: (attempt: BundleAttempt) => boolean
  /** Whether a relay alone has the bundle's newest transaction, of which the node knows nothing. */
  readonly isRelayed: (bundle: OpenBundle) => boolean
  /** The last block in which a transaction that is sent now may be mined. */
  readonly soon: ComingBlock
  /** Milliseconds after which a transaction without inclusion is stuck. */
  readonly resubmitAfter: number
  /** The advised fees of the tier `fast`. */
  readonly fast: Fees
  /** The number of missing nonces above which they are not filled. */
  readonly maxFillers: number
}

/**
 * The step for each bundle of a lane:
 * - its nonce is used although no receipt of ours was found: abandon it, unless the node knows one of its
 *   transactions, which may be in a block that the index has not reached;
 * - too many nonces before it are missing for it ever to be mined: abandon it when it is stuck and the node
 *   knows none of its transactions;
 * - the operator wants an operation back, or one of its operations is settled elsewhere or about to end,
 *   so that the bundle would revert: cancel it, once;
 * - neither the node nor a relay has it (restart, reorg, lost): send it again;
 * - stuck: raise its fees when it is the first of the lane, or when it bids less than the `fast`
 *   fees, for which nodes may refuse it; any other one only waits for those before it.
 */
export function planLane(lane: Lane, conditions: LaneConditions): LanePlan {
  const { isKnown, isRelayed, soon, resubmitAfter, fast, maxFillers } = conditions
  const steps: LaneStep[] = []
  const stuck: OpenBundle[] = []
  const reachable = missingNonces(lane).length <= maxFillers
  const [firstMissing] = missingNonces(lane)
  const first = lane.open.find(({ nonce }) => nonce >= lane.mined)
  for (const bundle of lane.open) {
    const newest = newestAttempt(bundle)
    const late = newest.age >= resubmitAfter
    const reason = cancelReason(bundle, soon)
    const isForgotten = !bundle.attempts.some(isKnown)
    if (bundle.nonce < lane.mined) {
      const used = 'its nonce was used by another transaction'
      if (isForgotten) steps.push({ kind: 'abandon', bundle, reason: used })
    } else if (isForgotten && !reachable && late && bundle.nonce > (firstMissing ?? bundle.nonce))
      steps.push({ kind: 'abandon', bundle, reason: 'transactions before it are missing' })
    else if (reason !== undefined && !newest.noop) steps.push({ kind: 'cancel', bundle, reason })
    else {
      const isMissing = !isKnown(newest) && !isRelayed(bundle)
      if (isMissing) steps.push({ kind: 'send', bundle })
      if (late && ((bundle === first && !isMissing) || isBelow(newest, fast))) stuck.push(bundle)
    }
  }
  return { steps, stuck }
}

/** Nonces that neither the chain nor an open bundle has used, though an open bundle comes after them. */
export function missingNonces({ mined, open }: Lane): bigint[] {
  const taken = new Set(open.map(({ nonce }) => nonce))
  const last = open.at(-1)?.nonce ?? mined
  const missing: bigint[] = []
  // Only a few are ever filled, and a node that answers nonsense must not make this count for ever.
  for (let nonce = mined; nonce < last && missing.length < 100; nonce++)
    if (!taken.has(nonce)) missing.push(nonce)
  return missing
}

/** The nonce of the lane's next transaction: a missing one, else the one after all others. */
export function nextNonce({ mined, open }: Lane): bigint {
  const taken = new Set(open.map(({ nonce }) => nonce))
  let nonce = mined
  while (taken.has(nonce)) nonce++
  return nonce
}

/** wei that the lane's transactions may still take from the executor. */
export function committedCost({ open }: Pick<Lane, 'open'>): bigint {
  return open.reduce(
    (sum, { attempts: [first, ...others] }) =>
      sum + greatest(first.maxCost, ...others.map(({ maxCost }) => maxCost)),
    0n,
  )
}

export function newestAttempt({ attempts }: OpenBundle): BundleAttempt {
  return attempts.at(-1) ?? attempts[0]
}

function cancelReason(bundle: OpenBundle, soon: ComingBlock): string | undefined {
  if (bundle.cancelRequested) return 'the operator cancelled one of its operations'
  const { validUntil, validUntilBlock } = bundle
  const validity = { validAfter: 0, validUntil, blocks: { after: 0n, until: validUntilBlock } }
  if (endsBefore(validity, soon)) return 'one of its operations is about to end'
  return bundle.waitingCount < bundle.operationCount
    ? 'one of its operations is settled without it'
    : undefined
}

/** Whether one of the fees is lower. */
export function isBelow(fees: Fees, fast: Fees): boolean {
  return (
    fees.maxFeePerGas < fast.maxFeePerGas || fees.maxPriorityFeePerGas < fast.maxPriorityFeePerGas
  )
}

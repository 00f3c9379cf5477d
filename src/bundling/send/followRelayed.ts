import type { Head } from '../../chain/head.js'
import type { Fees } from '../../entrypoint/fees.js'
import type { OpenBundle } from '../../store/outbox/bundles.js'
import { publishBundle } from '../../store/outbox/outbox.js'
import type { BundlingContext } from '../bundlingContext.js'
import { bundleFailure } from './bundleFailure.js'
import { isBelow, type Lane, newestAttempt } from './lanes.js'

/** The bundles of a lane after those that only a relay has were looked at. */
type Looked = {
  readonly open: readonly OpenBundle[]
  /** The first bundle of the lane, where it would revert now: the relay will not include it. Not in `open`. */
  readonly failing: { readonly bundle: OpenBundle; readonly reason: string } | undefined
  /** Bundles that were taken under conditions of an earlier block, which may not hold any more. */
  readonly outdated: readonly OpenBundle[]
}

/**
 * Looks, at each head, at the bundles that only a relay has: nobody tells whether it will include them. One that
 * would revert is to be taken back. One that has waited long enough goes public, together with all others while
 * the relay rests: never one that would revert, so that the public way costs no more than the relay's. One behind
 * others may revert only until these are mined; it waits for them.
 */
export async function followRelayed(
  context: BundlingContext,
  head: Head,
  lane: Lane,
  fast: Fees,
): Promise<Looked> {
  const open: OpenBundle[] = []
  const outdated: OpenBundle[] = []
  let failing: Looked['failing']
  const first = lane.open.find(({ nonce }) => nonce >= lane.mined)
  for (const bundle of lane.open) {
    if (bundle.relayedFrom === undefined || bundle.nonce < lane.mined) {
      open.push(bundle)
      continue
    }
    const failure = await bundleFailure(context, head, bundle)
    if (failure !== undefined) {
      if (bundle === first) failing = { bundle, reason: `it would revert now: ${failure}` }
      else open.push(bundle)
    } else if (isDue(context, head, bundle, fast)) open.push(await publish(context, bundle))
    else {
      open.push(bundle)
      if (isOutdated(context, bundle)) outdated.push(bundle)
    }
  }
  return { open, failing, outdated }
}

/** The last block for which a bundle is kept from the public. */
export function keptUntil({ relay }: BundlingContext, { relayedFrom = 0n }: OpenBundle): bigint {
  return relayedFrom + BigInt(relay?.publicAfter ?? 0)
}

function isOutdated({ relay }: BundlingContext, bundle: OpenBundle): boolean {
  const isTaken = relay?.answerTo(newestAttempt(bundle).hash) === 'taken'
  return isTaken && relay?.way === 'conditional'
}

/** Whether a relayed bundle goes public. A relay that it has waited for in vain rests. */
function isDue(context: BundlingContext, head: Head, bundle: OpenBundle, fast: Fees): boolean {
  const { relay, logger } = context
  if (relay === undefined || relay.rests(head.number)) return true
  if (head.number < keptUntil(context, bundle)) return false
  const newest = newestAttempt(bundle)
  const answer = relay.answerTo(newest.hash)
  // One that it refuses, or that offers little, says nothing about the relay: anybody can make those.
  if (answer !== 'refused' && (answer !== 'taken' || !isBelow(newest, fast))) {
    relay.rest(head.number)
    const facts = { blocks: relay.publicAfter, answer: answer ?? 'none' }
    logger.error(facts, 'the relay did not include a bundle: bundles go public for some blocks')
  }
  return true
}

async function publish(context: BundlingContext, bundle: OpenBundle): Promise<OpenBundle> {
  const { database, logger, onRelayed } = context
  await publishBundle(database, bundle.id)
  onRelayed?.('published')
  const { id, nonce, executor, relayedFrom } = bundle
  logger.warn({ bundleId: id, executor, nonce, relayedFrom }, 'a relayed bundle goes public')
  return { ...bundle, relayedFrom: undefined }
}

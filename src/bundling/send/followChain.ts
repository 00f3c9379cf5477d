import { bundlingHorizon } from '../../chain/comingBlock.js'
import type { Head } from '../../chain/head.js'
import { dropExpired } from '../../store/pool/operations.js'
import { decayReputations } from '../../store/pool/reputations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { indexBlocks } from '../settle/indexBlocks.js'
import { fillGaps } from './fillGaps.js'
import { type Followed, followBundles } from './followBundles.js'
import { refillExecutors } from './refillExecutors.js'

/**
 * Brings operations and bundles up to date with the chain at `head`. Undefined when the index cannot
 * reach that head; nothing should be sent then.
 */
export async function followChain(
  context: BundlingContext,
  head: Head,
): Promise<Followed | undefined> {
  const { database, definition, node, logger } = context
  if (!(await indexBlocks(context, head))) return undefined
  const followed = await followBundles(context, head)
  const last = await bundlingHorizon(node, head, definition)
  const expired = await dropExpired(database, definition.chainId, last, definition.maxPoolAge)
  if (expired.length > 0) logger.warn({ ops: expired }, 'operations expired in the pool')
  await decayReputations(database, definition.chainId)
  return followed
}

/** Fills missing nonces and refills executors; new bundles go first. */
export async function keepLanes(context: BundlingContext, followed: Followed): Promise<void> {
  await fillGaps(context, followed)
  await refillExecutors(context, followed)
}

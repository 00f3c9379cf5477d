import { adviseFees } from '../../chain/fees.js'
import { openBundles } from '../../store/outbox/bundles.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Followed } from './followBundles.js'
import { missingNonces } from './lanes.js'
import { sendTransfer } from './sendTransfer.js'

/**
 * Fills nonces that bundles left out (one was refused, or lost with a reorg) by transactions that do
 * nothing: what comes after them could not be mined before. New bundles take such nonces first, so
 * this comes after sending. More than a few missing ones are not filled; `planLane` gives up what
 * waits behind them.
 */
export async function fillGaps(
  context: BundlingContext,
  { head, standings }: Followed,
): Promise<void> {
  const { database, definition, node, signers, treasury, logger } = context
  const { chainId, maxBundlesPerExecutor } = definition
  const all = await openBundles(database, chainId)
  for (const signer of [...signers, ...(treasury ? [treasury] : [])]) {
    const { address } = signer
    const standing = standings.get(address)
    if (!standing) continue
    const open = all.filter(({ executor }) => executor === address)
    const missing = missingNonces({ executor: address, mined: standing.mined, open })
    if (missing.length > maxBundlesPerExecutor) continue
    for (const nonce of missing) {
      const { fast } = await adviseFees(node, head)
      const transfer = { to: address, value: 0n, nonce, fees: fast }
      const filler = await sendTransfer(context, signer, 'filler', transfer)
      logger.warn({ bundleId: filler.id, executor: address, nonce }, 'missing nonce filled')
    }
  }
}

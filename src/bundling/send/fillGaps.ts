import { adviseFees } from '../../chain/fees.js'
import { openBundles } from '../../store/outbox/bundles.js'
import type { BundlingContext } from '../bundlingContext.js'
import type { Followed } from './followBundles.js'
import { missingNonces } from './lanes.js'
import { sendTransfer } from './sendTransfer.js'

/**
 * Fills missing nonces (their bundles were refused, or lost with a reorg) with transactions that do
 * nothing: bundles with higher nonces could not be mined before. New bundles take missing nonces first,
 * so this comes after sending. More than a few are not filled; `planLane` abandons the bundles that wait
 * behind them.
 */
export async function fillGaps(
  context: BundlingContext,
  { head, states }: Followed,
): Promise<void> {
  const { database, definition, node, signers, treasury, logger } = context
  const { chainId, maxBundlesPerExecutor } = definition
  const bundles = await openBundles(database, chainId)
  for (const signer of [...signers, ...(treasury ? [treasury] : [])]) {
    const { address } = signer
    const state = states.get(address)
    if (!state) continue
    const open = bundles.filter(({ executor }) => executor === address)
    const missing = missingNonces({ executor: address, mined: state.mined, open })
    if (missing.length > maxBundlesPerExecutor) continue
    for (const nonce of missing) {
      const { fast } = await adviseFees(node, head, definition)
      const transfer = { to: address, value: 0n, nonce, fees: fast }
      const filler = await sendTransfer(context, signer, 'filler', transfer)
      logger.warn({ bundleId: filler.id, executor: address, nonce }, 'missing nonce filled')
    }
  }
}

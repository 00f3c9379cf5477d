import type { Address } from 'viem'
import { createStateLog } from '../../base/stateLog.js'
import { bundlingHorizon } from '../../chain/comingBlock.js'
import type { Head } from '../../chain/head.js'
import { dropExpired } from '../../mempool/pool/operations.js'
import { decayReputations } from '../../mempool/pool/reputations.js'
import type { BundlingContext } from '../bundlingContext.js'
import { balanceAlert } from '../executorStatus.js'
import { executorFees } from '../feeCeiling.js'
import { indexBlocks } from '../settle/indexBlocks.js'
import {
  type ChainView,
  type Followed,
  followBundles,
  lanesOf,
  viewChain,
} from './followBundles.js'
import { missingNonces } from './lanes.js'
import { refillExecutors, sendTransfer } from './refillExecutors.js'
import { returnSurpluses } from './returnSurpluses.js'
import { noteTrouble } from './noteTrouble.js'

/**
 * Brings operations up to date with the chain at `head`, and sends nothing: so it may run while others send.
 * Undefined when the index cannot reach that head; nothing should be sent then.
 */
export async function indexChain(
  context: BundlingContext,
  head: Head,
): Promise<ChainView | undefined> {
  const { database, definition, node, logger } = context
  const due = await indexBlocks(context, head)
  if (due === undefined) return undefined
  const view = await viewChain(context, head, due)
  // An operation that a bundle had may have come back to the pool since.
  if (due.expiresPooled || due.hasOpenBundles) {
    const last = await bundlingHorizon(node, head, definition)
    const expired = await dropExpired(database, definition.chainId, last, definition.maxPoolAge)
    if (expired.length > 0) logger.warn({ ops: expired }, 'operations expired in the pool')
  }
  if (due.reputationsLag) await decayReputations(database, definition.chainId)
  return view
}

/** Brings operations, then bundles, up to date with the chain at `head`; see `indexChain`. */
export async function followChain(
  context: BundlingContext,
  head: Head,
): Promise<Followed | undefined> {
  const view = await indexChain(context, head)
  return view && followBundles(context, view)
}

/** Fills missing nonces, refills executors and returns surpluses; new bundles go first. Nothing above the fee ceiling. */
export async function keepLanes(context: BundlingContext, followed: Followed): Promise<void> {
  if (followed.wait !== undefined) return
  await fillGaps(context, followed)
  await refillExecutors(context, followed)
  if (followed.due.owesSurplus) await returnSurpluses(context, followed)
}

const NOT_FILLED = 'a missing nonce cannot be filled'

/**
 * Fills missing nonces (their bundles were refused, or lost with a reorg) with transactions that do
 * nothing: bundles with higher nonces could not be mined before. New bundles take missing nonces first,
 * so this comes after sending. More than a few are not filled; `planLane` abandons the bundles that wait
 * behind them.
 */
async function fillGaps(context: BundlingContext, followed: Followed): Promise<void> {
  const { definition, signers, treasury, logger, problems } = context
  const { maxBundlesPerExecutor } = definition
  const { head, states } = followed
  const bundles = await lanesOf(context, followed)
  for (const signer of [...signers, ...(treasury ? [treasury] : [])]) {
    const { address } = signer
    const state = states.get(address)
    if (!state) continue
    const open = bundles.filter(({ executor }) => executor === address)
    const missing = missingNonces({ executor: address, mined: state.mined, open })
    if (missing.length > maxBundlesPerExecutor) continue
    try {
      for (const nonce of missing) {
        const { fast } = await executorFees(context, head)
        const transfer = { to: address, value: 0n, nonce, fees: fast }
        followed.lanes.bundles = undefined
        const filler = await sendTransfer(context, signer, 'filler', transfer)
        logger.warn({ bundleId: filler.id, executor: address, nonce }, 'missing nonce filled')
      }
      problems.end(address, NOT_FILLED)
    } catch (error) {
      noteTrouble(context, NOT_FILLED, { executor: address }, error)
    }
  }
}

/** Logs when an executor or the treasury runs out of money, and when it has some again: once each. */
function createBalanceWatch({
  definition,
  signers,
  treasury,
  logger,
}: Pick<BundlingContext, 'definition' | 'signers' | 'treasury' | 'logger'>) {
  const alerted = new Set<Address>()
  return ({ states }: ChainView): void => {
    const roles = signers.map(({ address }) => ['executor', address] as const)
    const accounts = treasury ? [...roles, ['treasury', treasury.address] as const] : roles
    for (const [role, address] of accounts) {
      const balance = states.get(address)?.balance
      if (balance === undefined) continue
      const alert = balanceAlert(role, balance, definition)
      if (alert !== undefined && !alerted.has(address)) logger.error({ address }, alert)
      if (alert === undefined && alerted.has(address))
        logger.info({ address, balance }, `the ${role} is funded again`)
      if (alert === undefined) alerted.delete(address)
      else alerted.add(address)
    }
  }
}

/** Logs what an operator has to know of executors and fees, when it begins and when it ends. */
export function createWatches(context: BundlingContext): (followed: Followed) => void {
  const watches = [createBalanceWatch(context), createCeilingWatch(context.logger)]
  return (followed) => {
    for (const watch of watches) watch(followed)
  }
}

/** Logs when the chain asks for more than the operator's fee ceiling, and when for less again: once each. */
function createCeilingWatch(logger: BundlingContext['logger']) {
  const state = createStateLog(
    logger,
    'gas costs more than the fee ceiling: operations wait',
    'gas costs less than the fee ceiling again',
  )
  return ({ wait }: Followed): void => {
    if (wait === undefined) state.back()
    else state.away({ reason: wait })
  }
}

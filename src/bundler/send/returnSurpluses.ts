import { compareBigints } from '../../base/bigints.js'
import { dataPriceAt } from '../../gas/dataPrice.js'
import { depositTo } from '../../paymaster/entryPointDeposit.js'
import type { BundlingContext } from '../bundlingContext.js'
import { executorFees } from '../feeCeiling.js'
import { mostOwed } from '../outbox/surpluses.js'
import { type Followed, lanesOf } from './followBundles.js'
import { committedCost, nextNonce } from './lanes.js'
import { sendTransfer, transferCost } from './refillExecutors.js'
import { noteTrouble } from './noteTrouble.js'

/** Gas of a deposit to a tank, with a margin for chains that charge for its data. */
const DEPOSIT_GAS = 80_000n
/** A surplus is returned when it is so many times what the transaction costs, which is deducted. */
const WORTH_IT = 25n

const NOT_RETURNED = 'a surplus cannot be returned'

/**
 * Returns to apps' own tanks what final blocks charged them beyond their share of the bundles: one deposit a cycle, from
 * the executor that has most, through the outbox. The transaction and what it returns are stored together,
 * so a crash neither loses nor repeats one.
 */
export async function returnSurpluses(context: BundlingContext, followed: Followed): Promise<void> {
  const { database, definition, node, signers, logger, problems, metrics } = context
  const { chainId, finalityDepth, maxBundlesPerExecutor, executorMinBalance } = definition
  const { head, states, blocked } = followed
  const owed = await mostOwed(database, chainId, head.number - BigInt(finalityDepth))
  if (owed === undefined) return
  const { fast: fees } = await executorFees(context, head)
  const cost = transferCost(await dataPriceAt(node, definition.dataFee, head), fees, DEPOSIT_GAS)
  if (owed.amount < WORTH_IT * cost) return

  const bundles = await lanesOf(context, followed)
  const [richest] = signers
    .flatMap((signer) => {
      const state = blocked.has(signer.address) ? undefined : states.get(signer.address)
      if (state === undefined) return []
      const open = bundles.filter(({ executor }) => executor === signer.address)
      const lane = { executor: signer.address, mined: state.mined, open }
      return [{ signer, lane, free: state.balance - committedCost(lane) - executorMinBalance }]
    })
    .filter(({ lane, free }) => lane.open.length < maxBundlesPerExecutor && free >= owed.amount)
    .sort((a, b) => compareBigints(b.free, a.free))
  if (richest === undefined) return
  const { entryPoint, tank, names } = owed
  const value = owed.amount - cost
  const transfer = { to: entryPoint, value, data: depositTo(tank), nonce: nextNonce(richest.lane) }
  followed.lanes.bundles = undefined
  try {
    const { id } = await sendTransfer(
      context,
      richest.signer,
      'return',
      { ...transfer, fees },
      { tank, surpluses: names },
    )
    problems.end(tank, NOT_RETURNED)
    metrics.count('purser_surplus_returned_wei_total', {}, Number(value))
    logger.info({ bundleId: id, tank, value, bundles: names.length }, 'a surplus is being returned')
  } catch (error) {
    noteTrouble(context, NOT_RETURNED, { tank }, error)
  }
}
